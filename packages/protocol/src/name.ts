import { CodedError } from "@millrace/errors";
import { NAME_LENGTH_MAX, NAME_LENGTH_MIN } from "./bounds.ts";

const BYTES_PER_UNIT_MAX = 3;

/** True when `text` can travel as a name: 1..=255 bytes of UTF-8, without half a surrogate pair. */
export function isName(text: string): boolean {
  if (typeof text !== "string") return false;
  if (text.length < NAME_LENGTH_MIN || text.length > NAME_LENGTH_MAX || !text.isWellFormed()) return false;
  // A UTF-16 unit is at most 3 bytes of UTF-8, so only long names need to be measured.
  if (text.length * BYTES_PER_UNIT_MAX <= NAME_LENGTH_MAX) return true;
  return new TextEncoder().encode(text).length <= NAME_LENGTH_MAX;
}

/**
 * Checks a name before it is sent.
 *
 * @param code  what to refuse it with: InvalidStreamName, InvalidTopicName, InvalidConsumerGroupName ...
 * @throws CodedError of that code
 */
export function checkName(text: string, code: number): void {
  if (isName(text)) return;
  throw new CodedError(code, `A name is ${NAME_LENGTH_MIN} to ${NAME_LENGTH_MAX} bytes of UTF-8.`);
}
