import assert from "node:assert/strict";
import net from "node:net";
import { describe, test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  BlockPool,
  createChecksumKernel,
  HeapLeases,
  type KernelMemory,
  type Lease,
} from "@millrace/framing";
import { type Connection, type Log, silentLog } from "@millrace/platform";
import { connectTcp } from "./client/index.ts";
import { type ListenTcpOptions, listenTcp, onreadWorks, type TcpListener } from "./server/index.ts";

const MIB = 1_048_576;

test("reading into given buffers works on this Node, as the self-test says", async () => {
  assert.equal(await onreadWorks(), process.platform !== "win32");
});

for (const useOnread of [true, false]) {
  describe(`TCP at its edges, ${useOnread ? "read into blocks" : "copying"}`, () => {
    test("a connection over the limit is closed at once, counted and logged once", async () => {
      const warnings: string[] = [];
      const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
      await withListener({ useOnread, connectionsMax: 2, log }, async ({ listener }) => {
        const kept = [await rawPeer(listener), await rawPeer(listener)];
        for (let index = 0; index < 3; index++) await (await rawPeer(listener)).closed;
        assert.equal(listener.connectionsOpen, 2);
        assert.equal(listener.connectionsRefused, 3);
        assert.equal(warnings.length, 1);
        for (const peer of kept) peer.socket.destroy();
        await until(() => listener.connectionsOpen === 0);
        await (await rawPeer(listener)).end();
      });
    });

    test("a peer that owes the rest of a message loses its connection, whether silent or one byte at a time", async () => {
      await withListener({ useOnread, owedMaxMs: 120 }, async ({ listener, closed }) => {
        const silent = await rawPeer(listener);
        silent.socket.write(headerOf(64 * 1024));
        const dripping = await rawPeer(listener);
        const drip = setInterval(() => dripping.socket.write("x"), 10);
        await Promise.all([silent.closed, dripping.closed]);
        clearInterval(drip);
        await until(() => closed.length === 2);
        assert.ok(closed.every((error) => isCodedError(error, ErrorCode.RequestTimeout)));
      });
    });

    test("a quiet peer and one that sends whole messages keep their connections", async () => {
      const owedMaxMs = 250;
      await withListener({ useOnread, owedMaxMs }, async ({ listener, closed }) => {
        const quiet = await rawPeer(listener);
        const busy = await rawPeer(listener);
        const endMs = performance.now() + 4 * owedMaxMs;
        while (performance.now() < endMs) {
          busy.socket.write(headerOf(256).subarray(0, 100));
          await delay(10);
          busy.socket.write(headerOf(256).subarray(100));
          await delay(10);
        }
        assert.equal(closed.length, 0);
        await Promise.all([quiet.end(), busy.end()]);
      });
    });

    test("a peer that never closes its side is cut off after the grace time", async () => {
      let server: Connection | undefined;
      const onConnection = (connection: Connection) => {
        server = connection;
      };
      await withListener({ useOnread, closeGraceMs: 80, onConnection }, async ({ listener, closed }) => {
        const socket = net.connect({ port: listener.port, host: "127.0.0.1", allowHalfOpen: true });
        socket.on("error", () => {});
        socket.resume();
        await until(() => server !== undefined);
        const startMs = performance.now();
        server?.close();
        await until(() => closed.length === 1);
        assert.ok(performance.now() - startMs >= 70);
        assert.ok(isCodedError(closed[0], ErrorCode.Disconnected));
        socket.destroy();
      });
    });

    test("a reset by the peer is Disconnected, and what was queued fails", async () => {
      const written: (CodedError | undefined)[] = [];
      let isQueued = false;
      const onConnection = (connection: Connection) => {
        connection.onMessage = () => {
          const big = new Uint8Array(4 * MIB);
          for (let index = 0; index < 8; index++) connection.send([big], (error) => written.push(error));
          isQueued = true;
        };
      };
      await withListener({ useOnread, onConnection }, async ({ listener, closed }) => {
        const peer = await rawPeer(listener);
        peer.socket.pause();
        peer.socket.write(headerOf(256));
        await until(() => isQueued);
        peer.socket.resetAndDestroy();
        await until(() => closed.length === 1 && written.length === 8);
        assert.ok(isCodedError(closed[0], ErrorCode.Disconnected));
        assert.ok(written.some((error) => isCodedError(error, ErrorCode.Disconnected)));
      });
    });

    test("garbage closes its connection and no other", async () => {
      await withListener({ useOnread }, async ({ listener }) => {
        const good = await rawPeer(listener);
        for (let seed = 1; seed <= 20; seed++) {
          const bad = await rawPeer(listener);
          bad.socket.write(Uint8Array.from({ length: 500 }, (_, index) => (index * seed * 7 + 200) & 255));
          await bad.closed;
        }
        good.socket.write(headerOf(256));
        await until(() => good.receivedLength() === 256);
        await good.end();
      });
    });

    test("a message as long as the whole pool passes, although a block is in use for small ones", async () => {
      await withListener({ useOnread, messageLengthMax: 64 * MIB }, async ({ listener }) => {
        const peer = await rawPeer(listener);
        peer.socket.write(headerOf(256));
        await until(() => peer.receivedLength() === 256);
        const long = new Uint8Array(8 * MIB);
        long.set(headerOf(8 * MIB));
        peer.socket.write(long);
        await until(() => peer.receivedLength() === 512);
        await peer.end();
      });
    });

    test("a message longer than the whole pool is refused by its header", async () => {
      await withListener({ useOnread, messageLengthMax: 64 * MIB }, async ({ listener, closed }) => {
        const peer = await rawPeer(listener);
        peer.socket.write(headerOf(8 * MIB + 1));
        await peer.closed;
        await until(() => closed.length === 1);
        assert.ok(isCodedError(closed[0], ErrorCode.FrameTooLarge));
      });
    });

    test("a connection can be limited to short messages, and freed again", async () => {
      let server: Connection | undefined;
      const onConnection = (connection: Connection) => {
        server = connection;
        connection.limitMessages?.(300);
        connection.onMessage = () => connection.send([new Uint8Array(256)]);
      };
      await withListener({ useOnread, onConnection }, async ({ listener }) => {
        const stranger = await rawPeer(listener);
        stranger.socket.write(headerOf(301));
        await stranger.closed;
        const known = await rawPeer(listener);
        known.socket.write(headerOf(256));
        await until(() => known.receivedLength() === 256);
        server?.limitMessages?.(64 * MIB);
        known.socket.write(new Uint8Array([...headerOf(301), ...new Uint8Array(45)]));
        await until(() => known.receivedLength() === 512);
        await known.end();
      });
    });
  });
}

test("messages are read into the checksum kernel's own memory, where their positions say", async () => {
  const { memory } = createChecksumKernel({ memoryLength: 8 * MIB });
  const leases = new BlockPool(memory, { checked: true });
  const sums: number[] = [];
  const onConnection = (connection: Connection) => {
    connection.onMessage = ({ position, length }) => {
      sums.push(memory.bytes.subarray(position, position + length).reduce((sum, byte) => sum + byte, 0));
      connection.send([headerOf(256)]);
    };
  };
  await withListener({ leases, onConnection }, async ({ listener }) => {
    const peer = await rawPeer(listener);
    const message = new Uint8Array(300_000).fill(3);
    message.set(headerOf(300_000));
    const sum = message.reduce((total, byte) => total + byte, 0);
    for (let index = 0; index < 12; index++) peer.socket.write(message);
    await until(() => peer.receivedLength() === 12 * 256);
    assert.deepEqual(sums, new Array(12).fill(sum));
    await peer.end();
  });
});

test("the rest of a message whose connection is being closed is read to nobody else's place", async () => {
  const { memory } = createChecksumKernel({ memoryLength: 8 * MIB });
  const leases = new BlockPool(memory, { checked: true });
  let server: Connection | undefined;
  const onConnection = (connection: Connection) => {
    server ??= connection;
  };
  await withListener({ leases, onConnection }, async ({ listener, closed }) => {
    const socket = net.connect({ port: listener.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => {});
    socket.resume();
    const begun = new Uint8Array(150_000).fill(3);
    begun.set(headerOf(MIB));
    socket.write(begun);
    await until(() => memory.bytes.includes(3, memory.blocksStart));
    await delay(20);
    server?.close();
    const other = await rawPeer(listener);
    other.socket.write(new Uint8Array([...headerOf(600_000), ...new Uint8Array(599_744)]));
    await until(() => other.receivedLength() === 256);
    const others: Lease[] = [];
    for (let lease = leases.allocate(65_536); lease !== undefined; lease = leases.allocate(65_536))
      others.push(lease);
    for (const { bytes } of others) bytes.fill(7);
    socket.end(new Uint8Array(150_000).fill(3));
    await until(() => closed.length === 1);
    const untouched = others.filter(({ bytes }) => bytes.every((byte) => byte === 7));
    const othersCount = others.length;
    for (const lease of others) lease.release();
    await other.end();
    assert.equal(untouched.length, othersCount);
  });
});

test("a port that is taken is CannotBindToSocket with host and port", async () => {
  await withListener({}, async ({ listener }) => {
    const second = listenTcp({ ...defaults(), port: listener.port });
    await assert.rejects(second, (error) => {
      assert.ok(isCodedError(error, ErrorCode.CannotBindToSocket));
      assert.deepEqual(error.details, { host: "127.0.0.1", port: listener.port });
      return true;
    });
  });
});

test("a listener on the IPv6 loopback names its address in brackets", async (context) => {
  const listener = await listenTcp({ ...defaults(), host: "::1" }).catch(() => undefined);
  if (listener === undefined) return context.skip("no IPv6 here");
  assert.equal(listener.address, `[::1]:${listener.port}`);
  await listener.close();
});

test("a refused connect is CannotEstablishConnection with address and cause", async () => {
  const listener = await listenTcp(defaults());
  await listener.close();
  await assert.rejects(connect(listener.port), (error) => {
    assert.ok(isCodedError(error, ErrorCode.CannotEstablishConnection));
    assert.deepEqual(error.details, { host: "127.0.0.1", port: listener.port });
    assert.ok(error.message.includes("ECONNREFUSED") && error.cause instanceof Error);
    return true;
  });
});

test("a connect that takes too long is CannotEstablishConnection", async () => {
  await withListener({}, async ({ listener }) => {
    const attempt = connect(listener.port, { timeoutMs: 1 });
    const endMs = performance.now() + 20;
    while (performance.now() < endMs) {} // The timer is due before the event loop can see the connection.
    await assert.rejects(attempt, (error) => isCodedError(error, ErrorCode.CannotEstablishConnection));
  });
});

test("an aborted connect is Aborted, before it begins and while it is under way", async () => {
  await withListener({}, async ({ listener }) => {
    const isAborted = (error: unknown) => isCodedError(error, ErrorCode.Aborted);
    await assert.rejects(connect(listener.port, { signal: AbortSignal.abort() }), isAborted);
    const controller = new AbortController();
    const attempt = connect(listener.port, { signal: controller.signal });
    controller.abort();
    await assert.rejects(attempt, isAborted);
  });
});

test("an abort after the connection is open changes nothing", async () => {
  await withListener({}, async ({ listener }) => {
    const controller = new AbortController();
    const client = await connect(listener.port, { signal: controller.signal });
    controller.abort();
    const reply = new Promise<number>((resolve) => {
      client.onMessage = (messageLease) => resolve(messageLease.length);
    });
    client.send([headerOf(256)]);
    assert.equal(await reply, 256);
    client.close();
  });
});

function connect(port: number, more: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<Connection> {
  const leases = new HeapLeases();
  return connectTcp({ host: "127.0.0.1", port, leases, messageLengthMax: MIB, timeoutMs: 5000, ...more });
}

function defaults(): ListenTcpOptions {
  const bytes = new Uint8Array(8 * MIB);
  const memory: KernelMemory = { bytes, view: new DataView(bytes.buffer), blocksStart: 0 };
  return {
    host: "127.0.0.1",
    port: 0,
    leases: new BlockPool(memory, { checked: true }),
    messageLengthMax: MIB,
    connectionsMax: 100,
    log: silentLog,
    onConnection: () => {},
  };
}

interface Edge {
  readonly listener: TcpListener;
  /** Reasons of the server's closed connections. */
  readonly closed: (CodedError | undefined)[];
}

/**
 * A listener that answers every message with a header of 256 bytes; afterwards no lease and no connection is
 * left.
 */
async function withListener(
  more: Partial<ListenTcpOptions>,
  body: (edge: Edge) => Promise<void>,
): Promise<void> {
  const closed: (CodedError | undefined)[] = [];
  const options = { ...defaults(), ...more };
  const listener = await listenTcp({
    ...options,
    onConnection: (connection) => {
      connection.onMessage = () => connection.send([headerOf(256)]);
      connection.onClose = (error) => closed.push(error);
      options.onConnection(connection);
    },
  });
  try {
    await body({ listener, closed });
  } finally {
    await listener.close();
  }
  await until(() => listener.connectionsOpen === 0 && options.leases.leasesOut === 0);
}

/** A plain socket, for what our own client would never send. */
async function rawPeer(listener: TcpListener) {
  const socket = net.connect(listener.port, "127.0.0.1");
  let received = 0;
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    received += bytes.length;
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise((resolve) => socket.once("connect", resolve));
  const end = () => {
    socket.end();
    return closed;
  };
  return { socket, closed, end, receivedLength: () => received };
}

/** 256 bytes that announce a message of `length`. */
function headerOf(length: number): Uint8Array {
  const header = new Uint8Array(256);
  new DataView(header.buffer).setUint32(48, length, true);
  return header;
}

function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + 8000;
  while (!condition()) {
    assert.ok(performance.now() < endMs, `still not so after 8 s: ${condition}`);
    await delay(2);
  }
}
