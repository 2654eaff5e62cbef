/** Reply bodies are the offset in three bytes, little-endian; an op that appends nothing has none. */
export function encodeOffset(offset: number): Uint8Array {
  if (offset < 0) return new Uint8Array(0);
  return new Uint8Array([offset & 0xff, (offset >> 8) & 0xff, (offset >> 16) & 0xff]);
}

/** Offset of a reply body, -1 where there is none. */
export function decodeOffset([low, middle = 0, high = 0]: Uint8Array): number {
  return low === undefined ? -1 : low + (middle << 8) + (high << 16);
}
