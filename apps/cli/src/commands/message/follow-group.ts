import type { Client } from "../../connection/client.ts";
import type { TailPrinter } from "./tail-printer.ts";

/** The group to be a member of. */
export interface GroupTail {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly group: number | string;
}

/**
 * Reads as a member of a group until the printer is done or the signal ends it, then leaves the group.
 *
 * What was printed, or left out by a filter, is committed, the last message included; what was polled and not
 * looked at goes to whoever reads next.
 */
export async function followGroup(
  client: Client,
  place: GroupTail,
  { printer, signal }: { readonly printer: TailPrinter; readonly signal: AbortSignal },
): Promise<void> {
  const consumer = client.consumerGroup(place);
  const close = () => void consumer.close().catch(() => undefined);
  signal.addEventListener("abort", close, { once: true });
  // Ctrl-C may have come while the client was connecting.
  if (signal.aborted) close();
  for await (const message of consumer) {
    await printer.print([message]);
    if (!printer.isDone && !signal.aborted) continue;
    await consumer.commit(message);
    break;
  }
}
