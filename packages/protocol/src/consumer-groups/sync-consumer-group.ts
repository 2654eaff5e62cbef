import type { ByteReader, ByteWriter } from "@millrace/framing";
import {
  decodeOptionalWith,
  decodeWith,
  encodeOptionalWith,
  encodeWith,
  readU32List,
  writeU32List,
} from "../body-codec.ts";
import { type GroupTarget, readGroupTarget, writeGroupTarget } from "./group-target.ts";

/** Asks which partitions of the group the session may poll now. */
export type SyncConsumerGroup = GroupTarget;

/** The pollable partitions; a changed generation means that they were dealt out anew. */
export interface GroupAssignment {
  readonly generation: number;
  readonly partitions: readonly number[];
}

/** The body of a SyncConsumerGroup request. */
export function encodeSyncConsumerGroup(body: SyncConsumerGroup): Uint8Array {
  return encodeWith(writeGroupTarget, body);
}

/** The counterpart of `encodeSyncConsumerGroup`; throws WireError. */
export function decodeSyncConsumerGroup(bytes: Uint8Array): SyncConsumerGroup {
  return decodeWith(readGroupTarget, bytes);
}

/** Shape: generation u64, then a u32 list; empty when the session is no member. */
export function encodeSyncConsumerGroupReply(assignment: GroupAssignment | undefined): Uint8Array {
  return encodeOptionalWith(writeAssignment, assignment);
}

/** The counterpart of `encodeSyncConsumerGroupReply`; throws WireError. */
export function decodeSyncConsumerGroupReply(payload: Uint8Array): GroupAssignment | undefined {
  return decodeOptionalWith(readAssignment, payload);
}

function writeAssignment(writer: ByteWriter, assignment: GroupAssignment): void {
  writeU32List(writer.u64(assignment.generation), assignment.partitions);
}

function readAssignment(reader: ByteReader): GroupAssignment {
  return { generation: reader.u64Number(), partitions: readU32List(reader) };
}
