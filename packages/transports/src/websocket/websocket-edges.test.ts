import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, HeapLeases } from "@millrace/framing";
import { type Connection, type Log, silentLog, TransportKind } from "@millrace/platform";
import { WebSocket } from "ws";
import { announcing, memoryOf, messageOf, quiet, until } from "../transport-setting.compliance.ts";
import { connectWebSocket } from "./client/index.ts";
import { type ListenWebSocketOptions, listenWebSocket, type WebSocketListener } from "./server/index.ts";

const MIB = 1_048_576;

interface Setting {
  readonly listener: WebSocketListener;
  readonly url: string;
  readonly pool: BlockPool;
  /** Lengths of the messages that came, why connections closed, and the connections. */
  readonly received: number[];
  readonly closed: (CodedError | undefined)[];
  readonly servers: Connection[];
}

async function withListener(
  options: Partial<ListenWebSocketOptions>,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const pool = new BlockPool(memoryOf(8 * MIB), { checked: true });
  const received: number[] = [];
  const closed: (CodedError | undefined)[] = [];
  const servers: Connection[] = [];
  const listener = await listenWebSocket({
    host: "127.0.0.1",
    port: 0,
    leases: pool,
    messageLengthMax: MIB,
    connectionsMax: 10,
    log: silentLog,
    onConnection: (server) => {
      servers.push(server);
      server.onMessage = ({ length }) => received.push(length);
      server.onClose = (error) => closed.push(error);
    },
    ...options,
  });
  try {
    await body({ listener, url: `ws://127.0.0.1:${listener.port}/`, pool, received, closed, servers });
  } finally {
    for (const server of servers) server.close();
    await listener.close();
  }
  await until(() => pool.leasesOut === 0 && listener.connectionsOpen === 0);
}

async function opened(url: string): Promise<{ peer: WebSocket; closeCode: Promise<number> }> {
  const peer = new WebSocket(url, { perMessageDeflate: false });
  peer.on("error", () => {});
  const closeCode = new Promise<number>((resolve) => peer.once("close", resolve));
  await once(peer, "open");
  return { peer, closeCode };
}

/** One WebSocket frame, FIN set unless said; a mask of zeros when masked. */
function frameOf(opcode: number, payload: Uint8Array, { fin = true, isMasked = true } = {}): Buffer {
  const first = (fin ? 0x80 : 0) | opcode;
  const mask = isMasked ? 0x80 : 0;
  const length = payload.length;
  const head = length < 126 ? [first, mask | length] : [first, mask | 126, length >> 8, length & 255];
  return Buffer.concat([Uint8Array.from([...head, ...(isMasked ? [0, 0, 0, 0] : [])]), payload]);
}

/** A socket that has done the handshake by hand. */
async function rawPeer(port: number): Promise<{ socket: net.Socket; ended: Promise<unknown> }> {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(
    "GET /any/path HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
  );
  // However it ends: a reset while this side still writes is an end too.
  const ended = new Promise((resolve) => socket.once("close", resolve));
  await once(socket, "data");
  socket.resume();
  return { socket, ended };
}

test("a text message closes with 1003, and nothing is handed over", async () => {
  await withListener({}, async ({ url, closed, received }) => {
    const { peer, closeCode } = await opened(url);
    peer.send("hello");
    assert.equal(await closeCode, 1003);
    assert.ok(isCodedError(closed[0], ErrorCode.InvalidFormat));
    assert.deepEqual(received, []);
  });
});

test("a message whose header says another length closes with 1002, one that is too long with 1009", async () => {
  await withListener({}, async ({ url, closed, received }) => {
    for (const [bytes, code, error] of [
      [announcing(300), 1002, ErrorCode.InvalidCommand],
      [messageOf(300, 1).subarray(0, 256), 1002, ErrorCode.InvalidCommand],
      [new Uint8Array(10), 1002, ErrorCode.InvalidCommand],
      [new Uint8Array(0), 1002, ErrorCode.InvalidCommand],
      [announcing(2 * MIB), 1009, ErrorCode.FrameTooLarge],
      [messageOf(2 * MIB, 1), 1009, ErrorCode.FrameTooLarge],
    ] as const) {
      const { peer, closeCode } = await opened(url);
      peer.send(bytes);
      assert.equal(await closeCode, code, `${bytes.length} bytes`);
      assert.ok(isCodedError(closed.at(-1), error), String(closed.at(-1)));
    }
    assert.deepEqual(received, []);
  });
});

test("fragments of one message are put together, with pings between them answered", async () => {
  await withListener({}, async ({ url, received }) => {
    const { peer } = await opened(url);
    const message = messageOf(5000, 1);
    const pong = once(peer, "pong");
    peer.send(message.subarray(0, 100), { fin: false });
    peer.ping();
    peer.send(message.subarray(100, 3000), { fin: false });
    peer.send(message.subarray(3000), { fin: true });
    peer.send(messageOf(256, 2));
    await pong;
    await until(() => received.length === 2);
    assert.deepEqual(received, [5000, 256]);
    peer.close();
  });
});

test("unmasked frames are refused, and taken beside masked ones when that is switched on", async () => {
  await withListener({}, async ({ listener, closed, received }) => {
    const { socket, ended } = await rawPeer(listener.port);
    socket.write(frameOf(2, messageOf(256, 1), { isMasked: false }));
    await ended;
    assert.ok(isCodedError(closed[0], ErrorCode.InvalidCommand));
    assert.deepEqual(received, []);
  });
  await withListener({ acceptUnmaskedFrames: true }, async ({ listener, received }) => {
    const { socket } = await rawPeer(listener.port);
    socket.write(frameOf(2, messageOf(256, 1), { isMasked: false }));
    socket.write(frameOf(2, messageOf(300, 1)));
    await until(() => received.length === 2);
    assert.deepEqual(received, [256, 300]);
    socket.destroy();
  });
});

test("compression and subprotocols are not agreed on, and any path is taken", async () => {
  await withListener({}, async ({ url }) => {
    const peer = new WebSocket(`${url}deep/path?x=1`, { perMessageDeflate: true });
    await once(peer, "open");
    assert.equal(peer.extensions, "");
    peer.close();
  });
});

test("a stranger may not send more than he is allowed, not even in one message that never ends", async () => {
  const limitTo = 65_536;
  const onConnection = (server: Connection) => server.limitMessages?.(limitTo);
  await withListener({ messageLengthMax: 4 * MIB, onConnection }, async ({ listener }) => {
    const { socket, ended } = await rawPeer(listener.port);
    let sent = 0;
    const piece = frameOf(0, new Uint8Array(10_000), { fin: false });
    socket.write(frameOf(2, new Uint8Array(10_000), { fin: false }));
    while (!socket.destroyed && sent < 4 * MIB) {
      socket.write(piece);
      sent += piece.length;
      await quiet(1);
    }
    await ended;
    assert.ok(sent < 2 * MIB, `${sent} bytes were taken`);
  });
});

test("a peer that owes the rest of a message loses its connection; quiet ones and those that ping stay", async () => {
  await withListener({ owedMaxMs: 120 }, async ({ listener, url, closed }) => {
    const idle = await opened(url);
    const pings = setInterval(() => idle.peer.ping(), 20);
    const owing = await rawPeer(listener.port);
    owing.socket.write(frameOf(2, new Uint8Array(1000), { fin: false }));
    await owing.ended;
    clearInterval(pings);
    assert.equal(closed.length, 1);
    assert.ok(isCodedError(closed[0], ErrorCode.RequestTimeout));
    assert.equal(idle.peer.readyState, WebSocket.OPEN);
    idle.peer.close();
  });
});

test("a peer that leaves in the middle of a message, or is cut off, is Disconnected and leaves no lease", async () => {
  await withListener({}, async ({ listener, closed, servers }) => {
    const leaving = await rawPeer(listener.port);
    leaving.socket.end(frameOf(2, messageOf(50_000, 1)).subarray(0, 20_000));
    await leaving.ended;
    await until(() => closed.length === 1);
    const cut = await rawPeer(listener.port);
    cut.socket.resetAndDestroy();
    await until(() => closed.length === 2);
    assert.ok(closed.every((error) => isCodedError(error, ErrorCode.Disconnected)));
    assert.equal(servers[0]?.transport, TransportKind.webSocket);
    assert.match(servers[0]?.remoteAddress ?? "", /^127\.0\.0\.1:\d+$/);
  });
});

test("connections over the limit are closed, counted, and logged once; plain HTTP is told to upgrade", async () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  await withListener({ connectionsMax: 2, log }, async ({ listener, url }) => {
    const peers = [await opened(url), await opened(url)];
    for (let index = 0; index < 3; index++) await assert.rejects(opened(url));
    assert.deepEqual([listener.connectionsOpen, listener.connectionsRefused], [2, 3]);
    assert.equal(warnings.length, 1);
    for (const { peer } of peers) peer.terminate();
    await until(() => listener.connectionsOpen === 0);
    const [response] = (await once(http.get(`http://127.0.0.1:${listener.port}/`), "response")) as [
      http.IncomingMessage,
    ];
    response.resume();
    assert.equal(response.statusCode, 426);
  });
});

test("a port that is taken is refused by name", async () => {
  await withListener({}, async ({ listener }) => {
    await assert.rejects(
      listenWebSocket({
        host: "127.0.0.1",
        port: listener.port,
        leases: new BlockPool(memoryOf(4 * MIB)),
        messageLengthMax: MIB,
        connectionsMax: 1,
        log: silentLog,
        onConnection: () => {},
      }),
      (error) => isCodedError(error, ErrorCode.CannotBindToSocket) && error.message.includes("EADDRINUSE"),
    );
  });
});

test("a connect that nobody answers times out, and one that is given up is Aborted", async () => {
  const silent = net.createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as net.AddressInfo;
  const options = { host: "127.0.0.1", port, leases: new HeapLeases(), messageLengthMax: MIB };
  await assert.rejects(connectWebSocket({ ...options, timeoutMs: 50 }), (error) =>
    isCodedError(error, ErrorCode.CannotEstablishConnection),
  );
  const giveUp = new AbortController();
  const attempt = connectWebSocket({ ...options, timeoutMs: 5000, signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(attempt, (error) => isCodedError(error, ErrorCode.Aborted));
  await assert.rejects(connectWebSocket({ ...options, timeoutMs: 50, signal: giveUp.signal }), (error) =>
    isCodedError(error, ErrorCode.Aborted),
  );
  silent.close();
});
