import { MESSAGE_LENGTH_MAX } from "@millrace/framing";
import { type Identifier, type Partitioning, toIdentifier } from "@millrace/protocol";
import type { Name } from "../admin/stream-calls.ts";
import { checkedMs, checkedNumber, type NumberBounds } from "../client-options.ts";
import { type PartitionChoice, partitioningOf } from "../messages/partition-choice.ts";
import type { BatchLimits } from "./open-batch.ts";

/** Options of a producer. */
export interface ProducerOptions {
  readonly stream: Name;
  readonly topic: Name;
  /**
   * Where messages without a key go. Default `"balanced"`: the server takes the partitions in turn, batch
   * by batch.
   */
  readonly partitioning?: PartitionChoice;
  /** Most messages in a batch. Default 1000. */
  readonly batchCountMax?: number;
  /** Most bytes in a batch. Default 1 MiB. */
  readonly batchLengthMax?: number;
  /** How long a message waits for company. Default 5; 0 sends what one event brought. */
  readonly lingerMs?: number;
  /**
   * Batches on the wire at once. Default 4. Above 1, a batch refused for a moment may end up behind a later
   * one.
   */
  readonly inFlightMax?: number;
  /** Bytes accepted and not acknowledged; beyond them `send` waits. Default 32 MiB. */
  readonly bufferLengthMax?: number;
}

/** Options with every default filled in and checked. */
export interface ResolvedProducerOptions {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitioning: Partitioning;
  readonly limits: BatchLimits;
  readonly lingerMs: number;
  readonly inFlightMax: number;
  readonly bufferLengthMax: number;
}

const BATCH_COUNT_MAX = 1000;
/** 1 MiB: fills one block of the send memory and is well past where batching still gains. */
const BATCH_LENGTH_MAX = 1_048_576;
/** What fits one frame beside its header and the names in front of the batch. */
const BATCH_LENGTH_LIMIT = MESSAGE_LENGTH_MAX - 4096;
/** 32 MiB: half the send memory, so that one producer leaves room for others. */
const BUFFER_LENGTH_MAX = 33_554_432;
/** As many as a connection may carry, see `ClientOptions.inFlightMax`. */
const IN_FLIGHT_LIMIT = 64;
/** A count or a length of nothing would take nothing. */
const SOME: NumberBounds = { min: 1, isWhole: true };
const LINGER_MS = 5;
const IN_FLIGHT_MAX = 4;

/** Fills in defaults. @throws CodedError InvalidArgument for a number out of its range */
export function resolveProducerOptions(options: ProducerOptions): ResolvedProducerOptions {
  const numberOf = (name: NumberOption, otherwise: number, range: NumberBounds) =>
    checkedNumber(name, options[name] ?? otherwise, range);
  return {
    stream: toIdentifier(options.stream),
    topic: toIdentifier(options.topic),
    partitioning: partitioningOf(options.partitioning),
    limits: {
      countMax: numberOf("batchCountMax", BATCH_COUNT_MAX, SOME),
      lengthMax: Math.min(numberOf("batchLengthMax", BATCH_LENGTH_MAX, SOME), BATCH_LENGTH_LIMIT),
    },
    lingerMs: checkedMs("lingerMs", options.lingerMs ?? LINGER_MS, 0),
    inFlightMax: numberOf("inFlightMax", IN_FLIGHT_MAX, { ...SOME, max: IN_FLIGHT_LIMIT }),
    bufferLengthMax: numberOf("bufferLengthMax", BUFFER_LENGTH_MAX, SOME),
  };
}

type NumberOption = "batchCountMax" | "batchLengthMax" | "inFlightMax" | "bufferLengthMax";
