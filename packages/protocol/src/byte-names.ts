import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";

/** A closed list of names and the byte each has on the wire. */
export type ByteNames<Name extends string> = Readonly<Record<Name, number>>;

/** Writes the byte of a name. */
export function writeByteName<Name extends string>(
  writer: ByteWriter,
  names: ByteNames<Name>,
  name: Name,
): void {
  writer.u8(names[name]);
}

/**
 * The name of the next byte.
 *
 * @throws WireError `unknown_kind` for a byte that is not in the list
 */
export function readByteName<Name extends string>(reader: ByteReader, names: ByteNames<Name>): Name {
  const position = reader.position;
  const byte = reader.u8();
  for (const name in names) if (names[name] === byte) return name;
  throw new WireError("unknown_kind", position);
}
