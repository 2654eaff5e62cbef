import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, decodeRequestHeader, HEADER_LENGTH, HeapLeases } from "@millrace/framing";
import { type Connection, silentLog, TransportKind } from "@millrace/platform";
import { decodeLoginRegister, decodeLoginRegisterWithPat, Operation } from "@millrace/protocol";
import { closedByTest, collect, memoryOf, messageOf, until } from "../transport-setting.compliance.ts";
import { connectGrpc } from "./client/index.ts";
import { decodeFrame, encodeFrame } from "./frame-marshaller.ts";
import { type GrpcListener, type ListenGrpcOptions, listenGrpc } from "./server/index.ts";

const MIB = 1_048_576;
const PROTO = fileURLToPath(new URL("./millrace.proto", import.meta.url));

interface Setting {
  readonly listener: GrpcListener;
  readonly messages: Uint8Array[];
  readonly closed: (CodedError | undefined)[];
  readonly servers: Connection[];
}

/** A listener that echoes. */
async function withListener(
  options: Partial<ListenGrpcOptions>,
  body: (setting: Setting) => Promise<void>,
): Promise<void> {
  const pool = new BlockPool(memoryOf(8 * MIB), { checked: true });
  const setting = { messages: [] as Uint8Array[], closed: [] as (CodedError | undefined)[] };
  const servers: Connection[] = [];
  const listener = await listenGrpc({
    host: "127.0.0.1",
    port: 0,
    leases: pool,
    messageLengthMax: MIB,
    connectionsMax: 10,
    log: silentLog,
    onConnection: (server) => {
      servers.push(server);
      server.onMessage = ({ bytes }) => {
        setting.messages.push(bytes.slice());
        server.send([bytes.slice()]);
      };
      server.onClose = (error) => setting.closed.push(error);
    },
    ...options,
  });
  try {
    await body({ ...setting, servers, listener });
  } finally {
    for (const server of servers) server.close();
    await listener.close();
  }
  await until(() => pool.leasesOut === 0 && listener.connectionsOpen === 0);
}

const connectTo = (listener: GrpcListener, authorization?: string) =>
  connectGrpc({
    host: "127.0.0.1",
    port: listener.port,
    leases: new HeapLeases(),
    messageLengthMax: MIB,
    timeoutMs: 2000,
    ...(authorization === undefined ? {} : { authorization }),
  });

/** What a client generated from the proto file has. */
interface StockClient extends grpc.Client {
  Exchange(metadata?: grpc.Metadata): grpc.ClientDuplexStream<{ frame: Uint8Array }, { frame: Buffer }>;
}

function stockClient(port: number): StockClient {
  const loaded = grpc.loadPackageDefinition(loadSync(PROTO)) as unknown as {
    millrace: {
      v1: { Millrace: new (address: string, credentials: grpc.ChannelCredentials) => StockClient };
    };
  };
  return new loaded.millrace.v1.Millrace(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
}

function statusOf(call: {
  once(event: "status", listener: (ended: grpc.StatusObject) => void): unknown;
}): Promise<grpc.StatusObject> {
  return new Promise((resolve) => call.once("status", resolve));
}

test("a stock client that knows nothing but the proto file exchanges messages", async () => {
  await withListener({}, async ({ listener }) => {
    const client = stockClient(listener.port);
    const call = client.Exchange();
    const sent = [messageOf(256, 1), messageOf(100_000, 2), messageOf(300, 3)];
    const received: Buffer[] = [];
    call.on("data", ({ frame }: { frame: Buffer }) => received.push(frame));
    for (const frame of sent) call.write({ frame });
    await until(() => received.length === sent.length);
    for (const [index, frame] of sent.entries()) assert.equal(Buffer.compare(received[index]!, frame), 0);
    call.end();
    assert.equal((await statusOf(call)).code, grpc.status.OK);
    client.close();
  });
});

test("a stock client learns by status and metadata why its call was ended", async () => {
  await withListener({}, async ({ listener, closed }) => {
    const client = stockClient(listener.port);
    for (const [frame, code, error] of [
      [messageOf(300, 1).subarray(0, 256), grpc.status.INVALID_ARGUMENT, ErrorCode.InvalidCommand],
      [new Uint8Array(0), grpc.status.INVALID_ARGUMENT, ErrorCode.InvalidCommand],
    ] as const) {
      const call = client.Exchange();
      call.on("error", () => {});
      call.resume();
      call.write({ frame });
      const ended = await statusOf(call);
      assert.equal(ended.code, code, ended.details);
      assert.deepEqual(ended.metadata.get("millrace-code"), [String(error)]);
      await until(() => isCodedError(closed.at(-1), error));
    }
    client.close();
  });
});

describe("call credentials", () => {
  test("of a token or a user become the login that the client would have sent", async () => {
    await withListener({}, async ({ listener, messages }) => {
      const basic = `Basic ${Buffer.from("iggy:pass:word").toString("base64")}`;
      for (const [index, authorization] of ["Bearer a-token", basic].entries()) {
        const connection = await connectTo(listener, authorization);
        const [reply] = await collect(connection, 1);
        assert.deepEqual(reply, messages[index], "the answer to the login comes first");
        const header = decodeRequestHeader(reply!);
        assert.equal(header.operation, Operation.Register);
        assert.ok(header.client > 0n);
        const body = reply!.subarray(HEADER_LENGTH);
        if (index === 0) assert.equal(decodeLoginRegisterWithPat(body).token, "a-token");
        else {
          const { username, password } = decodeLoginRegister(body);
          assert.deepEqual([username, password], ["iggy", "pass:word"]);
        }
        connection.close();
      }
    });
  });

  test("that cannot be read are refused without being repeated", async () => {
    await withListener({}, async ({ listener, servers }) => {
      for (const authorization of ["secret", "Digest secret", "Basic c2VjcmV0", "Bearer", "Basic"]) {
        await assert.rejects(connectTo(listener, authorization), (error) => {
          assert.ok(isCodedError(error, ErrorCode.CannotEstablishConnection));
          assert.match(error.message, /INVALID_ARGUMENT/);
          assert.doesNotMatch(error.message, /secret|c2VjcmV0/);
          return true;
        });
      }
      assert.equal(servers.length, 0);
    });
  });
});

test("calls over the limit are refused and counted; a cancelled call is closed", async () => {
  await withListener({ connectionsMax: 2 }, async ({ listener, closed, servers }) => {
    const clients = [await connectTo(listener), await connectTo(listener)];
    await assert.rejects(connectTo(listener), /RESOURCE_EXHAUSTED/);
    assert.deepEqual([listener.connectionsOpen, listener.connectionsRefused], [2, 1]);
    assert.equal(servers[0]?.transport, TransportKind.grpc);
    for (const client of clients) client.close(closedByTest());
    await until(() => closed.length === 2);
    assert.equal(listener.connectionsOpen, 0);
  });
});

test("a port that is taken is refused by name; a connect that nobody answers times out or is Aborted", async () => {
  const sockets: net.Socket[] = [];
  const silent = net.createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as net.AddressInfo;
  const options = { host: "127.0.0.1", port, leases: new HeapLeases(), messageLengthMax: MIB };
  const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
  await assert.rejects(
    withListener({ port }, async () => {}),
    hasCode(ErrorCode.CannotBindToSocket),
  );
  const late = connectGrpc({ ...options, timeoutMs: 50 });
  await assert.rejects(late, hasCode(ErrorCode.CannotEstablishConnection));
  const giveUp = new AbortController();
  const attempt = connectGrpc({ ...options, timeoutMs: 5000, signal: giveUp.signal });
  giveUp.abort();
  await assert.rejects(attempt, hasCode(ErrorCode.Aborted));
  for (const socket of sockets) socket.destroy();
  silent.close();
});

describe("the marshaller", () => {
  test("writes what it reads, at every length of the length", () => {
    for (const length of [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152]) {
      const message = messageOf(Math.max(length, 64), 1).subarray(0, length);
      const bytes = encodeFrame(message);
      assert.equal(Buffer.compare(decodeFrame(bytes), message), 0);
      if (length > 0) assert.equal(decodeFrame(bytes).buffer, bytes.buffer, "a view");
    }
  });

  test("skips fields it does not know, takes the last of a repeated one, and refuses broken bytes", () => {
    const frame = (...payload: number[]) => [10, payload.length, ...payload];
    const unknown = [
      [0x10, 0xff, 0x01],
      [0x19, 1, 2, 3, 4, 5, 6, 7, 8],
      [0x22, 2, 9, 9],
      [0x2d, 1, 2, 3, 4],
    ];
    const bytes = Uint8Array.from([...frame(1), ...unknown.flat(), ...frame(7, 8)]);
    assert.deepEqual([...decodeFrame(bytes)], [7, 8]);
    for (const broken of [
      [10],
      [10, 5, 1],
      [10, 255, 255, 255, 255, 255, 1],
      [0x19, 1],
      [0x13],
      [0x10, 255],
    ]) {
      assert.throws(() => decodeFrame(Uint8Array.from(broken)), RangeError);
    }
  });
});
