import { ByteReader, ByteWriter } from "@millrace/framing";
import { readIdentifier, writeIdentifier } from "@millrace/protocol";
import type { GroupTarget } from "./require-group.ts";

/**
 * In place of the partitions in flight: all that the topic has when the op is executed. Whoever proposes the
 * op may not have heard of all of them, nor of who polls them. No partition has this id.
 */
export const EVERY_PARTITION = 0xffff_ffff;

/**
 * JoinConsumerGroup as the log carries it: with the partitions that their owners have polled and not
 * committed, as their holders reported it when the op was proposed, or with `EVERY_PARTITION`.
 */
export interface JoinGroupOp extends GroupTarget {
  readonly inFlight: readonly number[];
}

/** Shape: stream, topic and group identifier, count u32, count x partition u32. */
export function encodeJoinGroupOp(op: JoinGroupOp): Uint8Array {
  const writer = new ByteWriter();
  for (const identifier of [op.stream, op.topic, op.group]) writeIdentifier(writer, identifier);
  writer.u32(op.inFlight.length);
  for (const partitionId of op.inFlight) writer.u32(partitionId);
  return writer.finish();
}

/**
 * The counterpart of `encodeJoinGroupOp`.
 * @throws WireError
 */
export function decodeJoinGroupOp(bytes: Uint8Array): JoinGroupOp {
  const reader = new ByteReader(bytes);
  const target = {
    stream: readIdentifier(reader),
    topic: readIdentifier(reader),
    group: readIdentifier(reader),
  };
  const inFlight: number[] = [];
  for (let left = reader.u32(); left > 0; left -= 1) inFlight.push(reader.u32());
  reader.finish();
  return { ...target, inFlight };
}
