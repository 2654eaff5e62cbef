import { parseDuration } from "./duration.ts";
import { U64_MAX } from "./whole-number.ts";

const NEVER_WORDS = new Set(["unlimited", "none", "never_expire"]);

/**
 * Message expiry in microseconds from the words of the command line, which are summed.
 *
 * Never is 2^64-1. Nothing, or `server_default`, leaves the choice to the server on create and changes
 * nothing on update: both answer undefined, so that the server-default number never replaces a stored value.
 * @throws InvalidArgumentError when the words are not a duration
 */
export function parseExpiry(words: readonly string[]): bigint | undefined {
  const [only] = words;
  if (only === undefined) return undefined;
  if (words.length === 1 && only === "server_default") return undefined;
  if (words.length === 1 && NEVER_WORDS.has(only)) return U64_MAX;
  return parseDuration(words.join(" "));
}

/** Seconds of a message expiry as the topic list shows them. */
export function expirySecondsText(micros: bigint): string {
  return micros === U64_MAX ? "never" : String(micros / 1_000_000n);
}
