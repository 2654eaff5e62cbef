const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit, value]));

/**
 * Bytes of a base64 text of our own making; no function of the surroundings does this in every one of them.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const digits = text.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let bits = 0;
  let bitCount = 0;
  let length = 0;
  for (const digit of digits) {
    bits = ((bits << 6) | (VALUES.get(digit) ?? 0)) & 0xffff;
    bitCount += 6;
    if (bitCount < 8) continue;
    bitCount -= 8;
    bytes[length++] = (bits >> bitCount) & 0xff;
  }
  return bytes;
}
