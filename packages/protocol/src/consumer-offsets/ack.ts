import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";

/** Whether the reply to an offset write waits until the write is committed by a quorum. */
export type Ack = "none" | "quorum";

const NONE = 0;
const QUORUM = 1;

/** Shape: u8, 0 none, 1 quorum. */
export function writeAck(writer: ByteWriter, ack: Ack): void {
  writer.u8(ack === "quorum" ? QUORUM : NONE);
}

/** The counterpart of `writeAck`; throws WireError `unknown_kind` for any other value. */
export function readAck(reader: ByteReader): Ack {
  const position = reader.position;
  const ack = reader.u8();
  if (ack === QUORUM) return "quorum";
  if (ack === NONE) return "none";
  throw new WireError("unknown_kind", position);
}
