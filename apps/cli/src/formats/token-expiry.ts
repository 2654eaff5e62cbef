import { parseExpiry } from "./expiry.ts";
import { U64_MAX } from "./whole-number.ts";

/**
 * Microseconds that a token is good for; undefined for never, which is also what no words mean.
 * @throws InvalidArgumentError when the words are not a duration
 */
export function parseTokenExpiry(words: readonly string[]): bigint | undefined {
  const micros = parseExpiry(words);
  return micros === U64_MAX ? undefined : micros;
}
