import { setU64, u64At, viewOver } from "../op-record/u64-field.ts";
import { SparseIndex } from "./sparse-index.ts";

/** Bytes of one entry: offset u64, timestamp u64, position u64. */
const INDEX_ENTRY_LENGTH = 24;
/** Largest `.index` we read: entries for a 64 GiB segment. A longer file is rebuilt instead. */
export const INDEX_LENGTH_MAX = 6_291_456;

/** What a segment proves about itself; an index that says otherwise is wrong. */
export interface IndexBounds {
  readonly firstOffset: number;
  readonly endOffset: number;
  readonly logLength: number;
}

/** The bytes of an `.index` file: entries back to back, no header. */
export function encodeIndex(index: SparseIndex): Uint8Array {
  const bytes = new Uint8Array(index.count * INDEX_ENTRY_LENGTH);
  const view = viewOver(bytes);
  for (let at = 0; at < index.count; at += 1) {
    const entry = index.entry(at);
    if (entry === undefined) break;
    setU64(view, at * INDEX_ENTRY_LENGTH, entry.offset);
    setU64(view, at * INDEX_ENTRY_LENGTH + 8, entry.timestamp);
    setU64(view, at * INDEX_ENTRY_LENGTH + 16, entry.position);
  }
  return bytes;
}

/**
 * The index those bytes hold, or nothing when they cannot be the index of that segment: torn, empty although
 * the segment is not, out of order, or pointing outside. An index that passes may still lie; readers notice.
 */
export function decodeIndex(bytes: Uint8Array, bounds: IndexBounds): SparseIndex | undefined {
  if (bytes.length % INDEX_ENTRY_LENGTH !== 0) return undefined;
  const index = new SparseIndex();
  const view = viewOver(bytes);
  let before = { offset: -1, timestamp: -1, position: -1 };
  for (let at = 0; at < bytes.length; at += INDEX_ENTRY_LENGTH) {
    const entry = { offset: u64At(view, at), timestamp: u64At(view, at + 8), position: u64At(view, at + 16) };
    const inOrder =
      entry.offset > before.offset && entry.position > before.position && entry.timestamp >= before.timestamp;
    if (!inOrder || entry.offset >= bounds.endOffset || entry.position >= bounds.logLength) return undefined;
    index.add(entry.offset, entry.timestamp, entry.position);
    before = entry;
  }
  const first = index.entry(0);
  if (first === undefined) return bounds.logLength === 0 ? index : undefined;
  return first.position === 0 && first.offset === bounds.firstOffset ? index : undefined;
}
