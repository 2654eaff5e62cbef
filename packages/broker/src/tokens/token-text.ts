import type { Random } from "@millrace/platform";

/** Chance in a token: far more than anybody can try. */
const TOKEN_BYTES = 50;

/** The text of a new token: 50 random bytes in standard base64, 68 characters. */
export function newTokenText(random: Random): string {
  return btoa(String.fromCharCode(...random.bytes(TOKEN_BYTES)));
}
