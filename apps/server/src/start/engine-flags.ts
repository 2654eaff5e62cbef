import { setFlagsFromString } from "node:v8";

/** See `node --v8-options`. */
export const SWEEPING_FLAG = "concurrent-array-buffer-sweeping";
/** See `node --v8-options` of Node 20. */
export const BUDGET_FLAG = "interrupt-budget";

/** Bytes of bytecode that a function runs through before it is compiled anew; 67,584 unless it is set. */
const INTERRUPT_BUDGET = 20_000;
/** The engine of Node 20, where this was measured; the one of Node 24 counts calls and has no such flag. */
const ENGINE_WITH_BUDGET = 11;

/**
 * Has the engine count dead buffers when it collects garbage, where its threads use every core.
 *
 * A thread of its own counts them else. Without a core that comes late, so that the engine takes the buffers
 * of WebSocket, gRPC and HTTP for alive and collects the whole heap instead of its young part: some starts of
 * a server on one core cost 750 to 900 ns a message over WebSocket, the others 350.
 *
 * @param threads  of the machine that this process may use, and that take messages
 */
export function countDeadBuffersAtOnce(
  threads: { readonly available: number; readonly used: number },
  setFlags: (flags: string) => void = setFlagsFromString,
): void {
  if (threads.available <= threads.used) setFlags(`--no-${SWEEPING_FLAG}`);
}

/**
 * Has the engine compile sooner what is run again and again.
 *
 * A batch of 1000 messages is one pass through the code, so a server that is fed in large batches was done
 * with compiling after 12 to 15 million messages; with a third of the default it is after five
 * (docs/performance.md, "Large batches"). To be called when the start is over: it would have more compiled
 * than a start needs.
 */
export function compileSooner(
  engine: string = process.versions.v8,
  setFlags: (flags: string) => void = setFlagsFromString,
): void {
  if (Number.parseInt(engine, 10) === ENGINE_WITH_BUDGET) setFlags(`--${BUDGET_FLAG}=${INTERRUPT_BUDGET}`);
}
