// One group member in a process of its own: `member-program.ts HOST:PORT`. Tells its parent what it handles,
// destroys its sockets or leaves when the parent says so, and ends when the parent is gone.
import { subscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import type { MemberOrder } from "./member-process.ts";
import { SOAK_PLACE } from "./soak-place.ts";

/** Share of messages that take a little work. */
const SLOW_SHARE = 0.2;
const SLOW_MS = 2;

const [, , address] = process.argv;
const sockets = new Set<Socket>();
subscribe("net.client.socket", (event) => {
  const { socket } = event as { socket: Socket };
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});

const client = await MillraceClient.connect(`iggy://iggy:iggy@${address}`);
const consumer = client.consumerGroup({ ...SOAK_PLACE, batchCountMax: 100, commitIntervalMs: 100 });

process.on("message", (order: MemberOrder) => {
  if (order === "leave") void consumer.close();
  else for (const socket of sockets) socket.destroy();
});
process.on("disconnect", () => process.exit(0));

consumer.on("rebalanced", () => process.send?.("joined"));

/** The parent knows of a message before its offset can be committed. */
function tell(partitionId: number, offset: number): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.([partitionId, offset], (error: Error | null) => (error ? reject(error) : resolve()));
  });
}

await consumer.run(async (message) => {
  if (Math.random() < SLOW_SHARE) await sleep(SLOW_MS);
  await tell(message.partitionId, message.offsetNumber);
});
await client.close();
process.exit(0);
