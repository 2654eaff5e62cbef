/**
 * Parts below this are copied beside their neighbours: a part of its own costs the socket and the system call
 * as much as copying a thousand bytes.
 */
const SMALL_PART_MAX = 1024;
/** Copies are cut from slabs of this length, each of which serves some two hundred short replies. */
const SLAB_LENGTH = 65_536;

let slab = new Uint8Array(0);
let slabUsed = 0;

/**
 * The same bytes in fewer parts: small neighbours become one part, long ones stay as they are, uncopied.
 *
 * The copies belong to the caller; nobody writes them again.
 */
export function joinSmallParts(parts: readonly Uint8Array[]): readonly Uint8Array[] {
  if (parts.length < 2) return parts;
  const joined: Uint8Array[] = [];
  for (let at = 0; at < parts.length; ) {
    const run = smallRunAt(parts, at);
    if (run.count < 2) joined.push(parts[at] as Uint8Array);
    else joined.push(copyOf(parts, at, run));
    at += Math.max(1, run.count);
  }
  return joined;
}

interface Run {
  readonly count: number;
  readonly length: number;
}

/** The small parts from `start` on, as many as fit one slab. */
function smallRunAt(parts: readonly Uint8Array[], start: number): Run {
  let length = 0;
  let at = start;
  for (; at < parts.length; at++) {
    const partLength = (parts[at] as Uint8Array).length;
    if (partLength >= SMALL_PART_MAX || length + partLength > SLAB_LENGTH) break;
    length += partLength;
  }
  return { count: at - start, length };
}

function copyOf(parts: readonly Uint8Array[], start: number, { count, length }: Run): Uint8Array {
  if (slabUsed + length > slab.length) {
    slab = new Uint8Array(SLAB_LENGTH);
    slabUsed = 0;
  }
  const from = slabUsed;
  for (let at = start; at < start + count; at++) {
    const part = parts[at] as Uint8Array;
    slab.set(part, slabUsed);
    slabUsed += part.length;
  }
  return slab.subarray(from, slabUsed);
}
