import { CodedError, ErrorCode } from "@millrace/errors";
import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { NAME_LENGTH_MAX, NAME_LENGTH_MIN } from "./bounds.ts";
import { isName } from "./name.ts";

/** How a request names a stream, topic, group or user: by number or by name. "42" as a name stays a name. */
export type Identifier =
  | { readonly kind: "numeric"; readonly id: number }
  | { readonly kind: "name"; readonly name: string };

const Kind = { numeric: 1, name: 2 } as const;
const NUMERIC_LENGTH = 4;
const ID_MAX = 4_294_967_295;

/**
 * The identifier a caller means: a number is an id, a string is a name even when it holds only digits.
 *
 * @throws CodedError InvalidIdentifier for a number outside u32 or a name outside 1..=255 UTF-8 bytes
 */
export function toIdentifier(value: number | string | Identifier): Identifier {
  if (typeof value === "number") return checkIdentifier({ kind: "numeric", id: value });
  if (typeof value === "string") return checkIdentifier({ kind: "name", name: value });
  if (value?.kind === "numeric" || value?.kind === "name") return checkIdentifier(value);
  const message =
    "A stream, topic, consumer, group or user is named by its id, a number, or by its name, a string.";
  throw new CodedError(ErrorCode.InvalidIdentifier, message);
}

/** Shape: `kind u8` (1 numeric, 2 name), `length u8`, then u32 or UTF-8 text. */
export function writeIdentifier(writer: ByteWriter, identifier: Identifier): void {
  checkIdentifier(identifier);
  if (identifier.kind === "numeric") writer.u8(Kind.numeric).u8(NUMERIC_LENGTH).u32(identifier.id);
  else writer.u8(Kind.name).name(identifier.name);
}

/**
 * The counterpart of `writeIdentifier`.
 *
 * @throws WireError `unknown_kind`, `bad_length` for a number that is not 4 bytes, `empty_name`,
 *   `invalid_utf8`
 */
export function readIdentifier(reader: ByteReader): Identifier {
  const position = reader.position;
  const kind = reader.u8();
  if (kind === Kind.name) return { kind: "name", name: reader.name() };
  if (kind !== Kind.numeric) throw new WireError("unknown_kind", position);
  if (reader.u8() !== NUMERIC_LENGTH) throw new WireError("bad_length", position + 1);
  return { kind: "numeric", id: reader.u32() };
}

/** The identifier as people read it in messages and logs. */
export function identifierText(identifier: Identifier): string {
  return identifier.kind === "numeric" ? String(identifier.id) : identifier.name;
}

function checkIdentifier(identifier: Identifier): Identifier {
  if (identifier.kind === "numeric") {
    const { id } = identifier;
    if (Number.isInteger(id) && id >= 0 && id <= ID_MAX) return identifier;
    throw new CodedError(ErrorCode.InvalidIdentifier, `An id is a whole number from 0 to ${ID_MAX}.`);
  }
  if (isName(identifier.name)) return identifier;
  const limits = `${NAME_LENGTH_MIN} to ${NAME_LENGTH_MAX} bytes`;
  throw new CodedError(ErrorCode.InvalidIdentifier, `A name in an identifier is ${limits} of UTF-8.`);
}
