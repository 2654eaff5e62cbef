import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type Ack, readAck, writeAck } from "./ack.ts";
import { type OffsetTarget, readOffsetTarget, writeOffsetTarget } from "./offset-target.ts";

/** Stores the offset a consumer has finished with. The reply has no payload. */
export interface StoreConsumerOffset extends OffsetTarget {
  readonly offset: bigint;
  readonly ack: Ack;
}

/** Shape: offset target, offset u64, ack u8. */
export function encodeStoreConsumerOffset(body: StoreConsumerOffset): Uint8Array {
  return encodeWith(writeStoreConsumerOffset, body);
}

/** The counterpart of `encodeStoreConsumerOffset`; throws WireError. */
export function decodeStoreConsumerOffset(bytes: Uint8Array): StoreConsumerOffset {
  return decodeWith(readStoreConsumerOffset, bytes);
}

function writeStoreConsumerOffset(writer: ByteWriter, body: StoreConsumerOffset): void {
  writeOffsetTarget(writer, body);
  writer.u64(body.offset);
  writeAck(writer, body.ack);
}

function readStoreConsumerOffset(reader: ByteReader): StoreConsumerOffset {
  return { ...readOffsetTarget(reader), offset: reader.u64(), ack: readAck(reader) };
}
