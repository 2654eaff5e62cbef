import { setTimeout as sleep } from "node:timers/promises";
import type { ShownMessage } from "../../connection/client.ts";
import type { PartitionReader } from "./partition-reader.ts";
import type { TailPrinter } from "./tail-printer.ts";

/** Pause after a round in which no partition had anything new. */
const IDLE_PAUSE_MS = 100;

/** What was there when a tail began, and readers that go on behind it. */
export interface TailStart {
  readonly messages: readonly ShownMessage[];
  readonly readers: readonly PartitionReader[];
}

/** Prints what was there, then what comes, until the printer is done or the signal ends it. */
export async function followPartitions(
  { messages, readers }: TailStart,
  printer: TailPrinter,
  signal: AbortSignal,
): Promise<void> {
  const interrupted = new Promise<readonly ShownMessage[]>((resolve) => {
    signal.addEventListener("abort", () => resolve([]), { once: true });
  });
  await printer.print(messages);
  while (!printer.isDone && !signal.aborted) {
    let isIdle = true;
    for (const reader of readers) {
      if (printer.isDone || signal.aborted) break;
      const found = await Promise.race([quietly(reader.next()), interrupted]);
      if (found.length > 0) isIdle = false;
      await printer.print(found);
    }
    if (isIdle) await sleep(IDLE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A read that Ctrl-C overtook may fail later, when nobody waits for it any more. */
function quietly<T>(reading: Promise<T>): Promise<T> {
  reading.catch(() => {});
  return reading;
}
