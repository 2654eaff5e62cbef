import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  encodeFlushUnsavedBuffer,
  encodeRepairPartition,
  encodeVerifyPartition,
  type RepairPartition,
  type RepairPartitionReply,
  type VerifyDamage,
  type VerifyPlace,
} from "@millrace/protocol";
import {
  DamageKind,
  Millrace,
  type VerifyPlace as ProtoPlace,
  RepairedOffsets,
  RepairOutcome,
} from "./millrace-proto.table.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { partitionOf } from "./wire-values.ts";

const { method } = Millrace;

const FROM_START: VerifyPlace = { segment: 0, opsPosition: 0, logPosition: 0 };

/** Looking at the files of a partition, and mending what they lost. */
export const careMethods: readonly UnaryMethod[] = [
  unaryMethod(method.verifyPartition, async (call, request) => {
    const step = { ...partitionOf(request), from: placeOf(request.from), lengthMax: request.lengthMax };
    const reply = await ask(call, "VerifyPartition", encodeVerifyPartition, step);
    const { bytes, batches, messages, next, fault, damages } = decodeBody(decodeVerifyPartitionReply, reply);
    const counts = { bytes: BigInt(bytes), batches: BigInt(batches), messages: BigInt(messages) };
    const place = next === undefined ? {} : { next: placeMessage(next) };
    return { ...counts, ...place, fault, damages: damages.map(damageMessage) };
  }),
  unaryMethod(method.repairPartition, async (call, request) => {
    const repair = { ...partitionOf(request), offsets: offsetsOf(request.offsets) };
    const reply = await ask(call, "RepairPartition", encodeRepairPartition, repair);
    const { outcome, offsets, nextOffset, damage } = decodeBody(decodeRepairPartitionReply, reply);
    const named = { outcome: OUTCOMES[outcome], offsets: OFFSETS[offsets] };
    return { ...named, nextOffset: BigInt(nextOffset), damage };
  }),
  unaryMethod(method.flushUnsavedBuffer, async (call, request) => {
    const { fsync } = request;
    await ask(call, "FlushUnsavedBuffer", encodeFlushUnsavedBuffer, { ...partitionOf(request), fsync });
    return {};
  }),
];

const OUTCOMES: Readonly<Record<RepairPartitionReply["outcome"], RepairOutcome>> = {
  healthy: RepairOutcome.HEALTHY,
  repaired: RepairOutcome.REPAIRED,
  "offsets-in-doubt": RepairOutcome.OFFSETS_IN_DOUBT,
  "under-way": RepairOutcome.UNDER_WAY,
  fetched: RepairOutcome.FETCHED,
};

const OFFSETS: Readonly<Record<RepairPartition["offsets"], RepairedOffsets>> = {
  proven: RepairedOffsets.PROVEN,
  known: RepairedOffsets.KNOWN,
  none: RepairedOffsets.NONE,
};

const DAMAGES: Readonly<Record<VerifyDamage["kind"], DamageKind>> = {
  batch: DamageKind.BATCH,
  record: DamageKind.RECORD,
  short: DamageKind.SHORT,
  missing: DamageKind.MISSING,
};

/** Which stored offsets shall count. @throws CodedError InvalidCommand for a number that names none */
function offsetsOf(given: RepairedOffsets): RepairPartition["offsets"] {
  if (given === RepairedOffsets.UNSPECIFIED) return "proven";
  for (const [name, number] of Object.entries(OFFSETS)) {
    if (number === given) return name as RepairPartition["offsets"];
  }
  throw new CodedError(ErrorCode.InvalidCommand, "The field offsets names none of proven, known and none.");
}

function placeOf(given: ProtoPlace | undefined): VerifyPlace {
  if (given === undefined) return FROM_START;
  const { segment, opsPosition, logPosition } = given;
  return {
    segment: placeNumber(segment),
    opsPosition: placeNumber(opsPosition),
    logPosition: placeNumber(logPosition),
  };
}

/** No file is so long. @throws CodedError InvalidCommand for what is above 2^53 - 1 */
function placeNumber(value: bigint): number {
  if (value <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(value);
  throw new CodedError(ErrorCode.InvalidCommand, "The field from is no place that an answer named.");
}

function placeMessage({ segment, opsPosition, logPosition }: VerifyPlace) {
  return {
    segment: BigInt(segment),
    opsPosition: BigInt(opsPosition),
    logPosition: BigInt(logPosition),
  };
}

function damageMessage({ kind, path, position, offset }: VerifyDamage) {
  const known = offset === undefined ? {} : { offset: BigInt(offset) };
  return { kind: DAMAGES[kind], path, position: BigInt(position), ...known };
}
