import type { FileCalls } from "./file-calls.ts";

/**
 * Longest write made at once: into the page cache it takes some 15 µs, what the way through the pool costs.
 */
const QUICK_LENGTH_MAX = 65_536;
/** A write that took longer waited for the disk: a hundred times what one takes. */
const SLOW_MS = 2;
/** How long the pool gets every write after one that waited: a slow disk holds all up once in it. */
const PAUSE_MS = 1_000;

/** The calls of `node:fs` this needs; tests give others. */
export interface QuickCalls extends FileCalls {
  writevSync(fd: number, parts: readonly Uint8Array[], position: number): number;
}

/**
 * The same calls, but short writes are made where they are asked for: through the thread pool they cost two
 * switches between threads, which is more than the write. Once one has waited for the disk the pool gets them
 * all for a while, so that a slow disk does not hold up every connection. `done` is called after the call.
 *
 * @param now  monotonic milliseconds
 * @see docs/adr/0060
 */
export function quickWrites(calls: QuickCalls, now: () => number = () => performance.now()): FileCalls {
  let pooledUntil = 0;
  return {
    writev(fd, parts, position, done) {
      const start = now();
      if (start < pooledUntil || lengthOf(parts) > QUICK_LENGTH_MAX) {
        calls.writev(fd, parts, position, done);
        return;
      }
      const { error, written } = writeNow(calls, fd, parts, position);
      const end = now();
      if (end - start > SLOW_MS) pooledUntil = end + PAUSE_MS;
      queueMicrotask(() => done(error, written));
    },
    read: (...call) => calls.read(...call),
    fdatasync: (...call) => calls.fdatasync(...call),
  };
}

function writeNow(
  calls: QuickCalls,
  fd: number,
  parts: readonly Uint8Array[],
  position: number,
): { readonly error: NodeJS.ErrnoException | null; readonly written: number } {
  try {
    return { error: null, written: calls.writevSync(fd, parts, position) };
  } catch (error) {
    return { error: error as NodeJS.ErrnoException, written: 0 };
  }
}

function lengthOf(parts: readonly Uint8Array[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}
