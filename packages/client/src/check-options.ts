import { CodedError, ErrorCode } from "@millrace/errors";
import { type ClientOptions, type ReconnectOptions, type TlsOptions, U32_MAX } from "./client-options.ts";
import type { ConsumerOptions } from "./consumer/consumer.ts";
import type { GroupConsumerOptions } from "./consumer-group/group-consumer.ts";
import { type PartitionChoice, partitioningOf } from "./messages/partition-choice.ts";
import { type PollStart, strategyOf } from "./messages/poll.ts";
import { nameOf } from "./name-of.ts";
import type { ProducerOptions } from "./producer/producer-options.ts";

/** What a value has to be, in words, and whether it is. */
interface Kind {
  readonly words: string;
  is(value: unknown): boolean;
}

type Kinds<Options> = Readonly<Record<keyof Options, Kind>>;

const TEXT: Kind = { words: "a string", is: (value) => typeof value === "string" };
const NUMBER: Kind = { words: "a number", is: (value) => typeof value === "number" && !Number.isNaN(value) };
const FLAG: Kind = { words: "true or false", is: (value) => typeof value === "boolean" };
const OBJECT: Kind = { words: "an object", is: isObject };
const ADDRESS: Kind = {
  words: "host:port or an array of such",
  is: (value) => TEXT.is(value) || (Array.isArray(value) && value.every((one) => TEXT.is(one))),
};
const TLS: Kind = { words: "true, false or an object", is: (value) => FLAG.is(value) || isObject(value) };
const RECONNECT: Kind = { words: "false or an object", is: (value) => value === false || isObject(value) };

const NAME: Kind = {
  words: "an id (a number) or a name (a string)",
  is: (value) => TEXT.is(value) || NUMBER.is(value) || isObject(value),
};
const isPartition = (one: number) => Number.isInteger(one) && one >= 0 && one <= U32_MAX;

/** None would idle for ever, and one that is named twice would be read twice. */
const PARTITIONS: Kind = {
  words: "an array of partition numbers: one at least, each once",
  is: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every(isPartition),
};

/** By what it can do: one of another realm, or of a library, is as good. */
const SIGNAL: Kind = {
  words: "an AbortSignal",
  is: (value) => isObject(value) && "aborted" in value && "addEventListener" in value,
};

const OPTIONS: Kinds<ClientOptions> = {
  address: ADDRESS,
  transport: TEXT,
  tls: TLS,
  username: TEXT,
  password: TEXT,
  token: TEXT,
  reconnect: RECONNECT,
  heartbeatIntervalMs: NUMBER,
  requestTimeoutMs: NUMBER,
  connectTimeoutMs: NUMBER,
  inFlightMax: NUMBER,
  followLeader: FLAG,
  retrySends: FLAG,
  noDelay: FLAG,
  sendMemoryLength: NUMBER,
  signal: SIGNAL,
  platform: OBJECT,
};

/** One of a few words. */
function oneOf(...words: readonly string[]): Kind {
  return {
    words: words.map((word) => `"${word}"`).join(" or "),
    is: (value) => words.includes(value as string),
  };
}

const READER_OPTIONS = {
  ...{ stream: NAME, topic: NAME, batchCountMax: NUMBER, pollIntervalMs: NUMBER },
  commit: oneOf("after-handler", "auto", "manual"),
  ...{ commitIntervalMs: NUMBER, commitCount: NUMBER, signal: SIGNAL },
};

const CONSUMER_OPTIONS: Kinds<ConsumerOptions> = {
  ...READER_OPTIONS,
  consumer: NAME,
  partitions: PARTITIONS,
  startAt: { words: "a start", is: (value) => strategyOf(value as PollStart) !== undefined },
};

const GROUP_OPTIONS: Kinds<GroupConsumerOptions> = {
  ...READER_OPTIONS,
  ...{ group: NAME, createGroup: FLAG, startAt: oneOf("first", "last") },
  ...{ syncIntervalMs: NUMBER, stalledAfterMs: NUMBER },
};

const PRODUCER_OPTIONS: Kinds<ProducerOptions> = {
  ...{ stream: NAME, topic: NAME, batchCountMax: NUMBER, batchLengthMax: NUMBER, lingerMs: NUMBER },
  ...{ inFlightMax: NUMBER, bufferLengthMax: NUMBER },
  partitioning: { words: "a choice", is: (value) => partitioningOf(value as PartitionChoice) !== undefined },
};

const TLS_OPTIONS: Kinds<TlsOptions> = { domain: TEXT, caFile: TEXT, validate: FLAG };

const RECONNECT_OPTIONS: Kinds<ReconnectOptions> = {
  ...{ retries: NUMBER, intervalMs: NUMBER, factor: NUMBER, delayMaxMs: NUMBER, jitter: NUMBER },
};

/**
 * Refuses what a program without types may hand over: something else than an object, an option that is not
 * known, a value of another kind. No message repeats a value: it may be a password.
 *
 * @throws CodedError InvalidArgument that names the option
 */
export function checkOptions(given: unknown): asserts given is ClientOptions {
  checkShape("the options", given, OPTIONS);
  const { tls, reconnect } = given as ClientOptions;
  if (isObject(tls)) checkShape("tls", tls, TLS_OPTIONS);
  if (isObject(reconnect)) checkShape("reconnect", reconnect, RECONNECT_OPTIONS);
}

/** As `checkOptions`, for a consumer; what it does not know is left alone. @throws CodedError */
export function checkConsumerOptions(given: unknown): asserts given is ConsumerOptions {
  checkKnown("a consumer", given, CONSUMER_OPTIONS);
}

/** As `checkConsumerOptions`, for a member of a group. @throws CodedError */
export function checkGroupOptions(given: unknown): asserts given is GroupConsumerOptions {
  checkKnown("a group consumer", given, GROUP_OPTIONS);
}

/** As `checkConsumerOptions`, for a producer. @throws CodedError */
export function checkProducerOptions(given: unknown): asserts given is ProducerOptions {
  checkKnown("a producer", given, PRODUCER_OPTIONS);
}

/** Other properties may be there: places are often spread into options. */
function checkKnown(what: string, given: unknown, kinds: Readonly<Record<string, Kind>>): void {
  if (!isObject(given)) throw invalid(`The options of ${what} are an object, not ${nameOf(given)}.`);
  for (const [name, kind] of Object.entries(kinds)) {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    const isNeeded = kind === NAME;
    if (value === undefined ? isNeeded : !kind.is(value))
      throw invalid(`${name} of ${what} is ${nameOf(value)}; it must be ${kind.words}.`);
  }
}

function checkShape(where: string, given: unknown, kinds: Readonly<Record<string, Kind>>): void {
  if (!isObject(given)) {
    throw invalid(
      `A client is connected with an object of options or a connection string, not ${nameOf(given)}.`,
    );
  }
  for (const [name, value] of Object.entries(given)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kind === undefined) {
      throw invalid(`${name} in ${where} is not known; there are ${Object.keys(kinds).join(", ")}.`);
    }
    if (value !== undefined && !kind.is(value)) {
      throw invalid(`${name} in ${where} is ${nameOf(value)}; it must be ${kind.words}.`);
    }
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, message);
}
