import type { FileCalls } from "./file-calls.ts";
import type { QuickCalls } from "./quick-writes.ts";

/** Longest read made at once: out of the page cache it takes some 100 µs, off a slow disk 20 ms. */
const QUICK_LENGTH_MAX = 1_048_576;
/** A read that took longer waited for the disk: five times what the page cache takes. */
const SLOW_MS = 0.25;
const LENGTH_PER_MS = 1_048_576;
/** One slow read may have lost its core for a moment; the second in a row waited for the disk. */
const SLOW_IN_A_ROW_MAX = 2;
/** How long the pool gets every read then; twice as long each time the next try is no better. */
const PAUSE_MIN_MS = 1_000;
const PAUSE_MAX_MS = 32_000;

/**
 * The same calls, but reads are made where they are asked for, as long as they find their bytes in memory.
 *
 * For threads that use every core: the pool's threads take time from them, and two switches between threads
 * cost as much as reading a hundred kilobytes. Off a disk reads go through the pool again, but for two tries
 * at growing distances, so that a consumer of old messages does not hold up every connection.
 *
 * @param now  monotonic milliseconds
 */
export function quickReads(
  calls: FileCalls & Pick<QuickCalls, "readSync">,
  now: () => number = () => performance.now(),
): FileCalls {
  let pooledUntil = 0;
  let pauseMs = PAUSE_MIN_MS;
  let slowInARow = 0;
  const note = (start: number, end: number, length: number) => {
    if (end - start <= SLOW_MS + length / LENGTH_PER_MS) {
      slowInARow = 0;
      pauseMs = PAUSE_MIN_MS;
      return;
    }
    slowInARow += 1;
    if (slowInARow < SLOW_IN_A_ROW_MAX) return;
    slowInARow = 0;
    pooledUntil = end + pauseMs;
    pauseMs = Math.min(PAUSE_MAX_MS, pauseMs * 2);
  };
  return {
    writev: (...call) => calls.writev(...call),
    read(fd, target, offset, length, position, done) {
      const start = now();
      if (length > QUICK_LENGTH_MAX || start < pooledUntil) {
        calls.read(fd, target, offset, length, position, done);
        return;
      }
      const { error, found } = readNow(calls, fd, { target, offset, length, position });
      note(start, now(), found);
      queueMicrotask(() => done(error, found));
    },
    fdatasync: (...call) => calls.fdatasync(...call),
  };
}

function readNow(
  calls: Pick<QuickCalls, "readSync">,
  fd: number,
  wanted: { target: Uint8Array; offset: number; length: number; position: number },
): { readonly error: NodeJS.ErrnoException | null; readonly found: number } {
  const { target, offset, length, position } = wanted;
  try {
    return { error: null, found: calls.readSync(fd, target, offset, length, position) };
  } catch (error) {
    return { error: error as NodeJS.ErrnoException, found: 0 };
  }
}
