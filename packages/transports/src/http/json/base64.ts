/**
 * The bytes of standard base64 with padding; undefined when `text` is something else, such as base64 of URLs
 * or with bits set that stand for nothing. The decoder of Node takes all of that, so what it made is written
 * again: that costs a third of a regular expression over the text.
 */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
