import { CodedError, ErrorCode } from "@millrace/errors";
import type { ClientOptions, ReconnectOptions, TlsOptions } from "./client-options.ts";

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
  signal: OBJECT,
  platform: OBJECT,
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

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function invalid(message: string): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, message);
}
