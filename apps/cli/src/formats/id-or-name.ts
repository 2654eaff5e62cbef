import { InvalidArgumentError } from "commander";
import { U32_MAX } from "./whole-number.ts";

/** Names travel with a one-byte length. */
const NAME_BYTES_MAX = 255;

/**
 * A stream, topic or consumer as typed: digits only is a numeric id, anything else is a name.
 * @throws InvalidArgumentError for an id above 2^32-1 or a name outside 1-255 bytes
 */
export function parseIdOrName(text: string): number | string {
  if (!readsAsId(text)) return parseName(text);
  const id = Number(text);
  if (id <= U32_MAX) return id;
  throw new InvalidArgumentError(`An id made of digits must be at most ${U32_MAX}.`);
}

/**
 * A name to give to something new.
 * @throws InvalidArgumentError outside 1-255 bytes of UTF-8
 */
export function parseName(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= NAME_BYTES_MAX) return text;
  throw new InvalidArgumentError(`A name must have 1 to ${NAME_BYTES_MAX} bytes; this one has ${bytes}.`);
}

/** A parser of names within bounds of their own, which says what it is a name of. */
function nameWithin(what: string, min: number, max: number): (text: string) => string {
  return (text) => {
    const bytes = Buffer.byteLength(text);
    if (bytes >= min && bytes <= max) return text;
    throw new InvalidArgumentError(`${what} must have ${min} to ${max} bytes; this one has ${bytes}.`);
  };
}

/** The name of a user to make, or his new one. @throws InvalidArgumentError outside 3-50 bytes of UTF-8 */
export const parseUsername = nameWithin("A user name", 3, 50);

/** The name of a token to make. @throws InvalidArgumentError outside 3-30 bytes of UTF-8 */
export const parseTokenName = nameWithin("The name of a token", 3, 30);

/** The key of messages. @throws InvalidArgumentError outside 1-255 bytes of UTF-8 */
export const parseMessageKey = nameWithin("A key", 1, NAME_BYTES_MAX);

/** True for a name that is taken for an id wherever something is named. */
export function readsAsId(name: string): boolean {
  return /^\d+$/.test(name);
}

/** How a stream, topic or consumer is named in sentences: `#7` for an id, quotes for a name. */
export function describe(idOrName: number | string): string {
  return typeof idOrName === "number" ? `#${idOrName}` : `"${idOrName}"`;
}
