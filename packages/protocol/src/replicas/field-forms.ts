import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";

/** A u8 that is 0 or 1. */
export function writeFlag(writer: ByteWriter, isSet: boolean): void {
  writer.u8(isSet ? 1 : 0);
}

/** Replicas write nothing but 0 and 1, so anything else is damage. @throws WireError `bad_value` */
export function readFlag(reader: ByteReader): boolean {
  const at = reader.position;
  const byte = reader.u8();
  if (byte > 1) throw new WireError("bad_value", at);
  return byte === 1;
}

/** Passes over bytes that are zero. @throws WireError `reserved_not_zero` */
export function readZeros(reader: ByteReader, length: number): void {
  const at = reader.position;
  const wrong = reader.bytes(length).findIndex((byte) => byte !== 0);
  if (wrong !== -1) throw new WireError("reserved_not_zero", at + wrong);
}

/** A u32 count, then so many things. @throws WireError `too_many` above `countMax` */
export function writeList<T>(
  writer: ByteWriter,
  things: readonly T[],
  form: { readonly countMax: number; readonly write: (writer: ByteWriter, thing: T) => void },
): void {
  if (things.length > form.countMax) throw new WireError("too_many", writer.length);
  writer.u32(things.length);
  for (const thing of things) form.write(writer, thing);
}

/** The counterpart of `writeList`. Nothing is reserved ahead of the bytes that are there. */
export function readList<T>(
  reader: ByteReader,
  form: { readonly countMax: number; readonly read: (reader: ByteReader) => T },
): T[] {
  const at = reader.position;
  const count = reader.u32();
  if (count > form.countMax) throw new WireError("too_many", at);
  const things: T[] = [];
  for (let index = 0; index < count; index++) things.push(form.read(reader));
  return things;
}
