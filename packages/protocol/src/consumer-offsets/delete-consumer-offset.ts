import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import { type Ack, readAck, writeAck } from "./ack.ts";
import { type OffsetTarget, readOffsetTarget, writeOffsetTarget } from "./offset-target.ts";

/** Forgets the stored offset of a consumer. The reply has no payload. */
export interface DeleteConsumerOffset extends OffsetTarget {
  readonly ack: Ack;
}

/** Shape: offset target, ack u8. */
export function encodeDeleteConsumerOffset(body: DeleteConsumerOffset): Uint8Array {
  return encodeWith(writeDeleteConsumerOffset, body);
}

/** The counterpart of `encodeDeleteConsumerOffset`; throws WireError. */
export function decodeDeleteConsumerOffset(bytes: Uint8Array): DeleteConsumerOffset {
  return decodeWith(readDeleteConsumerOffset, bytes);
}

function writeDeleteConsumerOffset(writer: ByteWriter, body: DeleteConsumerOffset): void {
  writeOffsetTarget(writer, body);
  writeAck(writer, body.ack);
}

function readDeleteConsumerOffset(reader: ByteReader): DeleteConsumerOffset {
  return { ...readOffsetTarget(reader), ack: readAck(reader) };
}
