/** Standard base64 with padding: whole groups of four, two pads at most. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The bytes of standard base64 with padding, in a new array; undefined when `text` is something else. */
export function decodeBase64(text: string): Uint8Array | undefined {
  return BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
}

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
