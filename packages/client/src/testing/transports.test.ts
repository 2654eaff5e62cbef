import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { commandAt, decodeReplyHeader, HEADER_LENGTH, HeapLeases, WireCommand } from "@millrace/framing";
import { decodeLoginReply } from "@millrace/protocol";
import { makeTestAuthority } from "@millrace/testkit";
import { connectGrpc } from "@millrace/transports/grpc/client";
import { outcomeOfReply } from "../connection/reply-code.ts";
import { type ClientOptions, ErrorCode, isCodedError, MillraceClient } from "../index.ts";
import { RealServer } from "./real-server.test.ts";

const who = { username: "iggy", password: "iggy", reconnect: { intervalMs: 50 } };

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

/** Makes a topic, sends a hundred messages in three sizes and polls them back. */
async function produceAndConsume(client: MillraceClient, stream: string): Promise<void> {
  await client.createStream(stream);
  await client.createTopic(stream, { name: "t", partitionsCount: 1 });
  const sent = Array.from({ length: 100 }, (_, index) => "x".repeat((index % 3) * 20_000 + 1) + index);
  const messages = sent.map((payload) => ({ payload }));
  await client.sendMessages({ stream, topic: "t", messages });
  const received: string[] = [];
  for await (const message of client.consumer({ stream, topic: "t", consumer: "c" })) {
    received.push(message.text());
    if (received.length === sent.length) break;
  }
  assert.deepEqual(received, sent);
}

describe("a client over WebSocket", () => {
  const server = new RealServer();
  before(() => server.start());
  after(() => server.remove());

  test("produces and consumes, and finds both ports in the roster", async () => {
    const client = await MillraceClient.connect(`millrace+ws://iggy:iggy@${server.webSocketAddress}`);
    await produceAndConsume(client, "over-ws");
    const ports = (await client.getClusterMetadata()).nodes[0];
    assert.deepEqual(
      [`127.0.0.1:${ports?.tcpPort}`, `127.0.0.1:${ports?.websocketPort}`],
      [server.address, server.webSocketAddress],
    );
    assert.equal((await client.getMe()).transport, "websocket");
    await client.close();
  });

  test("comes back after the server was killed", async () => {
    const client = await MillraceClient.connect({
      ...who,
      address: server.webSocketAddress,
      transport: "ws",
    });
    await client.createStream("before");
    await server.kill();
    const call = client.getStreams();
    await server.start();
    assert.ok((await call).some(({ name }) => name === "before"));
    await client.close();
  });

  test("is told when nobody speaks WebSocket there", async () => {
    const options = { ...who, address: server.address, transport: "ws", connectTimeoutMs: 500 } as const;
    await assert.rejects(MillraceClient.connect(options), hasCode(ErrorCode.CannotEstablishConnection));
  });
});

describe("a client over gRPC", () => {
  const server = new RealServer({ MILLRACE_GRPC_ENABLED: "true", MILLRACE_GRPC_ADDRESS: "127.0.0.1:0" });
  before(() => server.start());
  after(() => server.remove());

  test("produces and consumes, and shows as what gRPC is made of", async () => {
    const client = await MillraceClient.connect(`millrace+grpc://iggy:iggy@${server.grpcAddress}`);
    await produceAndConsume(client, "over-grpc");
    assert.equal((await client.getMe()).transport, "http");
    await client.close();
  });

  test("with the credentials of a call is logged in by the server, or refused", async () => {
    const [host = "", port] = server.grpcAddress.split(":");
    const login = async (password: string) => {
      const connection = await connectGrpc({
        host,
        port: Number(port),
        leases: new HeapLeases(),
        messageLengthMax: 1_048_576,
        timeoutMs: 5000,
        authorization: `Basic ${Buffer.from(`iggy:${password}`).toString("base64")}`,
      });
      const reply = await new Promise<Uint8Array>((resolve) => {
        connection.onMessage = ({ bytes }) => resolve(bytes.slice());
      });
      connection.close();
      return reply;
    };
    const good = await login("iggy");
    assert.equal(commandAt(new DataView(good.buffer), 0), WireCommand.reply);
    const outcome = outcomeOfReply(decodeReplyHeader(good), good.subarray(HEADER_LENGTH));
    assert.equal(outcome.code, 0);
    assert.ok(decodeLoginReply(outcome.payload).session > 0);
    const bad = await login("wrong");
    assert.equal(commandAt(new DataView(bad.buffer), 0), WireCommand.eviction);
  });
});

describe("a client with TLS", () => {
  let folder: string;
  let server: RealServer;
  const pem = (name: string) => join(folder, `${name}.pem`);
  const connect = (transport: "tcp" | "ws", tls: ClientOptions["tls"]) => {
    const address = transport === "ws" ? server.webSocketAddress : server.address;
    return MillraceClient.connect({ ...who, address, transport, ...(tls === undefined ? {} : { tls }) });
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-tls-"));
    const [authority, stranger] = await Promise.all([makeTestAuthority(), makeTestAuthority()]);
    const { certificate, privateKey } = await authority.issue(["node.example"]);
    await writeFile(pem("authority"), authority.certificate);
    await writeFile(pem("stranger"), stranger.certificate);
    await writeFile(pem("certificate"), certificate);
    await writeFile(pem("key"), privateKey);
    server = new RealServer({
      MILLRACE_TCP_TLS_ENABLED: "true",
      MILLRACE_TCP_TLS_CERT_FILE: pem("certificate"),
      MILLRACE_TCP_TLS_KEY_FILE: pem("key"),
      MILLRACE_WEBSOCKET_TLS_ENABLED: "true",
    });
    await server.start();
  });
  after(async () => {
    await server.remove();
    await rm(folder, { recursive: true });
  });

  test("produces and consumes, by options and by connection string", async () => {
    const client = await connect("tcp", { domain: "node.example", caFile: pem("authority") });
    await produceAndConsume(client, "over-tls");
    await client.close();
    const query = `tls=true&tls_domain=node.example&tls_ca_file=${pem("authority")}`;
    const again = await MillraceClient.connect(`iggy+tcp://iggy:iggy@${server.address}?${query}`);
    await again.ping();
    await again.close();
  });

  test("refuses what it cannot verify, at once and for good", async () => {
    for (const tls of [
      true,
      { domain: "node.example" },
      { caFile: pem("authority") },
      { domain: "node.example", caFile: pem("stranger") },
    ]) {
      await assert.rejects(connect("tcp", tls), hasCode(ErrorCode.InvalidTlsCertificate));
    }
    const missing = connect("tcp", { caFile: pem("missing") });
    await assert.rejects(missing, hasCode(ErrorCode.InvalidTlsCertificatePath));
  });

  test("says what to check when it comes in clear", async () => {
    const address = server.address;
    await assert.rejects(
      MillraceClient.connect({ ...who, address, requestTimeoutMs: 2000 }),
      /TCP port \(8090 unless it was changed\), and that TLS is off there as it is here/,
    );
  });

  test("takes a certificate that a server made for itself only when told so", async () => {
    await assert.rejects(connect("ws", true), hasCode(ErrorCode.InvalidTlsCertificate));
    const client = await connect("ws", { validate: false });
    await produceAndConsume(client, "over-wss");
    await client.close();
  });
});
