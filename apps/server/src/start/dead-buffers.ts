import { setFlagsFromString } from "node:v8";

/** See `node --v8-options`. */
export const SWEEPING_FLAG = "concurrent-array-buffer-sweeping";

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
