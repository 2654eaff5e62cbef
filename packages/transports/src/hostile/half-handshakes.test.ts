import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { describe, test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, HeapLeases } from "@millrace/framing";
import { type Connection, type Listener, silentLog } from "@millrace/platform";
import { makeTestAuthority } from "@millrace/testkit";
import { connectGrpc } from "../grpc/client/index.ts";
import { listenGrpc } from "../grpc/server/index.ts";
import { connectTcp } from "../tcp/client/index.ts";
import { listenTcp } from "../tcp/server/index.ts";
import {
  assertSame,
  closedByTest,
  collect,
  memoryOf,
  messageOf,
  until,
} from "../transport-setting.compliance.ts";
import { connectWebSocket } from "../websocket/client/index.ts";
import { listenWebSocket } from "../websocket/server/index.ts";

/** Scenario E-04. */
const HANGING = 500;
const MIB = 1_048_576;
const authority = await makeTestAuthority();
const serverTls = await authority.issue(["127.0.0.1"]);
const clientTls = { authorities: authority.certificate };

/** The first half of a TLS 1.2 record with a hello that announces 512 bytes. */
const HALF_HELLO = Uint8Array.from([
  0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 1, 2, 3,
]);
const HALF_HEADER = Buffer.from("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upg");
const HALF_PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nS");
const NOTHING = new Uint8Array(0);

interface Kind {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly listen: typeof listenTcp;
  readonly connect: typeof connectTcp;
  /** What a peer sends before it hangs. */
  readonly halves: readonly Uint8Array[];
}

const limits = { handshakeMaxMs: 1500, silentMaxMs: 1500, owedMaxMs: 1500, idleMaxMs: 1500 };
const KINDS: readonly Kind[] = [
  {
    name: "TCP",
    listen: listenTcp,
    connect: connectTcp,
    halves: [NOTHING, messageOf(256, 1).subarray(0, 100)],
  },
  { name: "TCP with TLS", listen: listenTcp, connect: connectTcp, halves: [NOTHING, HALF_HELLO] },
  { name: "WebSocket", listen: listenWebSocket, connect: connectWebSocket, halves: [NOTHING, HALF_HEADER] },
  {
    name: "WebSocket with TLS",
    listen: listenWebSocket,
    connect: connectWebSocket,
    halves: [NOTHING, HALF_HELLO],
  },
  { name: "gRPC", listen: listenGrpc, connect: connectGrpc, halves: [NOTHING, HALF_PREFACE] },
  { name: "gRPC with TLS", listen: listenGrpc, connect: connectGrpc, halves: [NOTHING, HALF_HELLO] },
].map((kind) => ({
  ...kind,
  isEncrypted: kind.name.endsWith("TLS"),
}));

async function hanging(listener: Listener, half: Uint8Array): Promise<Socket> {
  const socket = net.connect({ port: listener.port, host: "127.0.0.1" });
  socket.on("error", () => {});
  socket.resume();
  await once(socket, "connect");
  if (half.length > 0) socket.write(half);
  return socket;
}

for (const { name, isEncrypted, listen, connect, halves } of KINDS) {
  describe(`${HANGING} connections that hang in their beginning, on ${name},`, () => {
    test("leave a normal client served, and are closed when their time is up", async () => {
      const pool = new BlockPool(memoryOf(8 * MIB), { checked: true });
      const servers: Connection[] = [];
      const closed: (CodedError | undefined)[] = [];
      const listener = await listen({
        host: "127.0.0.1",
        port: 0,
        leases: pool,
        messageLengthMax: MIB,
        connectionsMax: 2 * HANGING,
        log: silentLog,
        onConnection: (server) => {
          servers.push(server);
          server.onMessage = ({ bytes }) => server.send([bytes.slice()]);
          server.onClose = (error) => closed.push(error);
        },
        ...(isEncrypted ? { tls: serverTls } : {}),
        ...limits,
      });
      const sockets: Socket[] = [];
      while (sockets.length < HANGING) sockets.push(await hanging(listener, halves[sockets.length % 2]!));
      const client = await connect({
        host: "127.0.0.1",
        port: listener.port,
        leases: new HeapLeases(),
        messageLengthMax: MIB,
        timeoutMs: 5000,
        ...(isEncrypted ? { tls: clientTls } : {}),
      });
      const received = collect(client, 1);
      client.send([messageOf(1000, 1)]);
      assertSame(await received, [messageOf(1000, 1)]);
      await until(() => sockets.every(({ closed: isGone }) => isGone));
      assert.ok(closed.every((error) => isCodedError(error, ErrorCode.RequestTimeout)));
      for (const socket of sockets) socket.destroy();
      client.close();
      for (const server of servers) server.close(closedByTest());
      await listener.close();
      await until(() => pool.leasesOut === 0);
    });
  });
}
