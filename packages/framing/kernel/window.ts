// One hash over bytes that do not lie in one piece: they are put into the window one after another, and whole
// blocks are hashed away whenever it is full. The input may be of any length.
import { hash } from "./hash";
import { WINDOW_END, WINDOW_LANES, WINDOW_START } from "./layout";
import { finishLanes, startLanes, takeBlocks } from "./long-hash";

/** End of the bytes in the window. */
let fill: usize = WINDOW_START;
/** Bytes hashed away before those in the window. */
let hashed: u64 = 0;

/** Begins a hash. */
export function openWindow(): void {
  fill = WINDOW_START;
  hashed = 0;
}

/** Where the next bytes go. Before, `windowRoom` bytes are free there; it is never 0. */
export function windowPosition(): usize {
  return fill;
}

/** Bytes that may be put at `windowPosition`; hashes blocks away first when there are fewer than 8. */
export function windowRoom(): usize {
  if (WINDOW_END - fill < 8) hashAway();
  return WINDOW_END - fill;
}

/** `length` bytes, at most `windowRoom`, were put at `windowPosition`. */
export function advanceWindow(length: usize): void {
  fill += length;
}

/** The last place in the window where eight bytes may be put. */
export const LAST_U64: usize = WINDOW_END - 8;

/**
 * For a loop that keeps the position to itself: it has put bytes up to `at`, which is behind `LAST_U64`.
 * @returns where it goes on, at or before `LAST_U64`
 */
export function hashAwayUpTo(at: usize): usize {
  fill = at;
  hashAway();
  return fill;
}

/** The hash of all bytes put in since `openWindow`, the last ones up to `at` by such a loop. */
export function closeWindowAt(at: usize): u64 {
  fill = at;
  return closeWindow();
}

/** The hash of all bytes put in since `openWindow`. */
export function closeWindow(): u64 {
  const length = fill - WINDOW_START;
  if (hashed === 0) return hash(WINDOW_START, length);
  return finishLanes(WINDOW_LANES, WINDOW_START, fill, hashed + (length as u64));
}

/**
 * Keeps the incomplete block, never empty, and the 64 bytes before it, which the last stripe may reach into.
 */
function hashAway(): void {
  if (hashed === 0) startLanes(WINDOW_LANES);
  const rest = takeBlocks(WINDOW_LANES, WINDOW_START, fill);
  hashed += (rest - WINDOW_START) as u64;
  memory.copy(WINDOW_START - 64, rest - 64, fill - rest + 64);
  fill = WINDOW_START + fill - rest;
}
