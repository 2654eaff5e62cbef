const encoder = new TextEncoder();
// `ignoreBOM` keeps a leading U+FEFF in the text, so that every text comes back as it was written.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text of UTF-8 bytes, or undefined when they are not UTF-8. A byte order mark stays part of the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-8 bytes of a text, or undefined when it holds half a surrogate pair, which UTF-8 cannot express. */
export function encodeUtf8(text: string): Uint8Array | undefined {
  return text.isWellFormed() ? encoder.encode(text) : undefined;
}
