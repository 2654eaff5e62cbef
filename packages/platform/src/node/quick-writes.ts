import type { FileCalls } from "./file-calls.ts";

/**
 * Longest write made at once where a core is left for the pool: into the page cache it takes some 15 µs, what
 * the way through the pool costs.
 */
const QUICK_LENGTH_MAX = 65_536;
/** Longest one where none is left: a whole group of writes. */
const QUICK_LENGTH_MAX_ALONE = 4_194_304;
/** A short write that took longer waited for the disk: a hundred times what it takes. */
const SLOW_MS = 2;
/**
 * A long one may lose its core to another thread meanwhile, for some 4 ms; what the system lets a writer wait
 * for a slow disk is 10 ms and more.
 */
const SLOW_MS_LONG = 8;
/** One slow write may have lost its core for a moment; the second in a row waited for the disk. */
const SLOW_IN_A_ROW_MAX = 2;
/** How long the pool gets every write after those that waited: a slow disk holds all up twice in it. */
const PAUSE_MS = 1_000;

/** The calls of `node:fs` this needs; tests give others. */
export interface QuickCalls extends FileCalls {
  writevSync(fd: number, parts: readonly Uint8Array[], position: number): number;
  readSync(fd: number, target: Uint8Array, offset: number, length: number, position: number): number;
}

/** Where and when writes are made. */
export interface QuickWriteOptions {
  /**
   * Threads like this one use every core, so that the pool's threads take time from them: long writes are
   * made here too.
   */
  readonly coresTaken?: boolean;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * The same calls, but short writes are made where they are asked for: through the thread pool they cost two
 * switches between threads, which is more than the write. Once two have waited for the disk the pool gets
 * them all for a while, so that a slow disk does not hold up every connection. `done` is called after the
 * call.
 *
 * @see docs/adr/0060
 */
export function quickWrites(calls: QuickCalls, options: QuickWriteOptions = {}): FileCalls {
  const { coresTaken = false, now = () => performance.now() } = options;
  const lengthMax = coresTaken ? QUICK_LENGTH_MAX_ALONE : QUICK_LENGTH_MAX;
  let pooledUntil = 0;
  let slowInARow = 0;
  const note = (start: number, end: number, length: number) => {
    const isSlow = end - start > (length > QUICK_LENGTH_MAX ? SLOW_MS_LONG : SLOW_MS);
    slowInARow = isSlow ? slowInARow + 1 : 0;
    if (slowInARow < SLOW_IN_A_ROW_MAX) return;
    slowInARow = 0;
    pooledUntil = end + PAUSE_MS;
  };
  return {
    writev(fd, parts, position, done) {
      const start = now();
      const length = lengthOf(parts);
      if (start < pooledUntil || length > lengthMax) {
        calls.writev(fd, parts, position, done);
        return;
      }
      const { error, written } = writeNow(calls, fd, parts, position);
      note(start, now(), length);
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
