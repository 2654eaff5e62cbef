import { once } from "node:events";
import net, { type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { IDLE_CONNECTIONS } from "./goals.ts";
import { openClient, startMillrace } from "./millrace-target.ts";
import { residentBytesOf } from "./process-usage.ts";
import { RequestFactory } from "./requests.ts";

const MIB = 1 << 20;
/** Connections opened at once: fewer than the kernel holds for a listener. */
const WAVE = 250;
/** Each source address has ports of its own, so that none runs short. */
const SOURCES = 4;
/** How long the server is left alone before its memory is read. */
const SETTLE_MS = 3000;

/** Resident memory of the server without and with idle connections, in MiB. */
export interface IdleReport {
  readonly connections: number;
  readonly before: number;
  readonly after: number;
}

/** Opens many TCP connections, each of which sends one request and falls silent, and reads what they cost. */
export async function benchIdle(): Promise<IdleReport> {
  const target = await startMillrace();
  const { connection } = await openClient(target.port);
  await sleep(SETTLE_MS);
  const before = residentBytesOf(target.pid) / MIB;
  const ping = new RequestFactory().ping();
  const sockets: Socket[] = [];
  try {
    while (sockets.length < IDLE_CONNECTIONS) {
      const wave = Array.from({ length: WAVE }, (_, at) => idle(target.port, sockets.length + at, ping));
      sockets.push(...(await Promise.all(wave)));
    }
    await sleep(SETTLE_MS);
    const after = residentBytesOf(target.pid) / MIB;
    const gone = sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
    if (gone > 0) throw new Error(`the server closed ${gone} of ${sockets.length} connections`);
    return { connections: sockets.length, before: Math.round(before), after: Math.round(after) };
  } finally {
    for (const socket of sockets) socket.destroy();
    connection.close();
    await target.stop();
  }
}

/** One connection whose request was answered. */
async function idle(port: number, index: number, ping: Buffer): Promise<Socket> {
  const localAddress = `127.0.0.${1 + (index % SOURCES)}`;
  const socket = net.connect({ port, host: "127.0.0.1", localAddress });
  await once(socket, "connect");
  socket.write(ping);
  await once(socket, "data");
  return socket;
}
