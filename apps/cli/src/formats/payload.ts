const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes as text, and how: as UTF-8 when they are valid UTF-8, else as base64. */
export interface BytesText {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
}

/** Shows bytes without losing any: UTF-8 text stays text, anything else becomes base64. */
export function bytesText(bytes: Uint8Array): BytesText {
  try {
    return { text: utf8.decode(bytes), encoding: "utf-8" };
  } catch {
    return { text: Buffer.from(bytes).toString("base64"), encoding: "base64" };
  }
}
