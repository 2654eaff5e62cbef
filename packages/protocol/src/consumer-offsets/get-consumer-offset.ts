import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeOptionalWith, decodeWith, encodeOptionalWith, encodeWith } from "../body-codec.ts";
import { type OffsetTarget, readOffsetTarget, writeOffsetTarget } from "./offset-target.ts";

/** Asks for the stored offset of a consumer. */
export type GetConsumerOffset = OffsetTarget;

/** A stored offset beside the highest readable offset of its partition. */
export interface ConsumerOffset {
  readonly partitionId: number;
  readonly currentOffset: number;
  readonly storedOffset: number;
}

/** The body of a GetConsumerOffset request. */
export function encodeGetConsumerOffset(body: GetConsumerOffset): Uint8Array {
  return encodeWith(writeOffsetTarget, body);
}

/** The counterpart of `encodeGetConsumerOffset`; throws WireError. */
export function decodeGetConsumerOffset(bytes: Uint8Array): GetConsumerOffset {
  return decodeWith(readOffsetTarget, bytes);
}

/** Shape: partition u32, current offset u64, stored offset u64; empty when nothing is stored. */
export function encodeGetConsumerOffsetReply(offset: ConsumerOffset | undefined): Uint8Array {
  return encodeOptionalWith(writeConsumerOffset, offset);
}

/** The counterpart of `encodeGetConsumerOffsetReply`. */
export function decodeGetConsumerOffsetReply(payload: Uint8Array): ConsumerOffset | undefined {
  return decodeOptionalWith(readConsumerOffset, payload);
}

function writeConsumerOffset(writer: ByteWriter, offset: ConsumerOffset): void {
  writer.u32(offset.partitionId).u64(offset.currentOffset).u64(offset.storedOffset);
}

function readConsumerOffset(reader: ByteReader): ConsumerOffset {
  return {
    partitionId: reader.u32(),
    currentOffset: reader.u64Number(),
    storedOffset: reader.u64Number(),
  };
}
