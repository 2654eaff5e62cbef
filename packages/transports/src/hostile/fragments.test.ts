import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import net, { type Socket } from "node:net";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { deflateRawSync } from "node:zlib";
import { BlockPool } from "@millrace/framing";
import { type Connection, silentLog } from "@millrace/platform";
import { closedByTest, memoryOf, until } from "../transport-setting.compliance.ts";
import { listenWebSocket } from "../websocket/server/index.ts";

/** Scenario E-05. */
const MIB = 1_048_576;
const BINARY = 2;
const CONTINUATION = 0;
/** Release of `ws` that bounds fragments and empty frames. */
const WS_MENDED = [8, 21, 1] as const;
/** What closing all of them may leave on the heap. */
const HEAP_LEFT_MAX = 32 * MIB;

async function withListener(body: (port: number, closed: () => number) => Promise<void>): Promise<void> {
  const pool = new BlockPool(memoryOf(8 * MIB), { checked: true });
  const servers = new Set<Connection>();
  let closedCount = 0;
  const listener = await listenWebSocket({
    host: "127.0.0.1",
    port: 0,
    leases: pool,
    messageLengthMax: MIB,
    connectionsMax: 100,
    log: silentLog,
    onConnection: (server) => {
      servers.add(server);
      server.limitMessages?.(16_384);
      server.onMessage = () => assert.fail("no message was ever whole");
      server.onClose = () => {
        closedCount++;
        servers.delete(server);
      };
    },
  });
  await body(listener.port, () => closedCount);
  for (const server of servers) server.close(closedByTest());
  await listener.close();
  await until(() => pool.leasesOut === 0 && listener.connectionsOpen === 0);
}

/** Bytes of the heap and of buffers after a collection. */
function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** A WebSocket by hand; `asked` are further header lines. Resolves with the answer's head. */
async function rawPeer(port: number, asked = ""): Promise<{ socket: Socket; head: string }> {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${asked}\r\n`,
  );
  const [head] = await once(socket, "data");
  socket.resume();
  return { socket, head: String(head) };
}

/** One masked frame of fewer than 126 bytes; the mask is zeros. */
function frame(first: number, payload: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.from([first, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** Many copies of a fragment behind the one that begins a message. */
function fragments(count: number, payload: Uint8Array): Buffer {
  const next = frame(CONTINUATION, payload);
  return Buffer.concat([frame(BINARY, payload), ...Array.from({ length: count - 1 }, () => next)]);
}

test("a message in 131 071 one-byte fragments, never finished, on 50 connections: closed, and the heap goes back", async () => {
  await withListener(async (port, closed) => {
    const before = heapInUse();
    const bytes = fragments(131_071, Uint8Array.from([1]));
    const peers = await Promise.all(Array.from({ length: 50 }, () => rawPeer(port)));
    for (const { socket } of peers) socket.write(bytes);
    await until(() => closed() === 50 && peers.every(({ socket }) => socket.closed));
    const left = heapInUse() - before;
    assert.ok(left < HEAP_LEFT_MAX, `${left} bytes are left`);
  });
});

test("continuation frames that are empty and never end close their connection", async () => {
  await withListener(async (port, closed) => {
    const { socket } = await rawPeer(port);
    const bytes = fragments(100_000, new Uint8Array(0));
    for (let round = 0; round < 10 && !socket.destroyed; round++) {
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    }
    await until(() => closed() === 1 && socket.closed);
  });
});

test("a compression bomb does not go off: compression is not agreed on, and a compressed frame is refused", async () => {
  await withListener(async (port, closed) => {
    const { socket, head } = await rawPeer(port, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
    assert.match(head, /^HTTP\/1\.1 101 /);
    assert.doesNotMatch(head, /permessage-deflate/i);
    const bomb = deflateRawSync(new Uint8Array(16 * MIB)).subarray(0, 100);
    socket.write(frame(0xc0 | BINARY, bomb));
    await until(() => closed() === 1 && socket.closed);
  });
});

test("the release of ws is one that bounds fragments", () => {
  const { version } = createRequire(import.meta.url)("ws/package.json") as { version: string };
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  const [wantedMajor, wantedMinor, wantedPatch] = WS_MENDED;
  const isMended =
    major > wantedMajor ||
    (major === wantedMajor && (minor > wantedMinor || (minor === wantedMinor && patch >= wantedPatch)));
  assert.ok(isMended, version);
});
