import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { silentLog } from "@millrace/platform";
import { loadConfig } from "../config/load-config.ts";
import { LogSinks } from "../log/log-sinks.ts";
import { type RunningServer, startServer } from "../start/start-server.ts";

const PROTO = createRequire(import.meta.url).resolve("@millrace/transports/grpc/millrace.proto");

// biome-ignore lint/suspicious/noExplicitAny: messages of a stock client have the proto file's shapes.
type Message = any;

/** What a client made from the proto file has: one function per call. */
type StockClient = grpc.Client &
  Record<
    string,
    (
      request: Message,
      metadata: grpc.Metadata,
      options: grpc.CallOptions,
      callback: (error: grpc.ServiceError | null, answer: Message) => void,
    ) => grpc.ClientUnaryCall
  >;

/** How a stock client reads what it is given: 64-bit numbers as texts, what is left out as its default. */
const READ_AS = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };

/** A server with gRPC, on a folder of its own, and a client that knows the proto file only. */
export class GrpcUnderTest {
  readonly server: RunningServer;
  readonly client: StockClient;
  readonly folder: string;
  /** Token of root, once `login` was called. */
  token = "";

  private constructor(server: RunningServer, client: StockClient, folder: string) {
    this.server = server;
    this.client = client;
    this.folder = folder;
  }

  /** Starts on a fresh folder; `settings` are environment variables without prefix. */
  static async start(
    settings: Record<string, string> = {},
    credentials = grpc.credentials.createInsecure(),
  ): Promise<GrpcUnderTest> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-grpc-"));
    const own = {
      PATH: folder,
      TCP_ADDRESS: "127.0.0.1:0",
      HTTP_ENABLED: "false",
      WEBSOCKET_ENABLED: "false",
      GRPC_ENABLED: "true",
      GRPC_ADDRESS: "127.0.0.1:0",
      MEMORY_POOL_SIZE: "64 MiB",
      // Threads are started from the bundle, which this source is not.
      SHARDING_CPU_ALLOCATION: "1",
      MESSAGE_BUS_MAX_MESSAGE_SIZE: "8 MiB",
      ...settings,
    };
    const environment = Object.fromEntries(
      Object.entries(own).map(([key, value]) => [`MILLRACE_${key}`, value]),
    );
    const { config } = await loadConfig({ environment });
    const sinks = new LogSinks({ write: () => {} });
    const onShardLost = () => assert.fail("a shard was lost");
    const onRootUserLeft = () => assert.fail("the start failed");
    const given = { fresh: false, withDefaultRootCredentials: true, onShardLost, onRootUserLeft };
    const start = { config, replica: 0, environment, log: silentLog, sinks, ...given };
    const server = await startServer(start);
    const address = Object.fromEntries(server.listeners)["grpc"];
    assert.ok(address !== undefined);
    return new GrpcUnderTest(server, stockClient(address, credentials), folder);
  }

  /** Port of the same server's TCP listener. */
  get tcpPort(): number {
    const { tcp = "" } = Object.fromEntries(this.server.listeners);
    return Number(tcp.split(":").at(-1));
  }

  /** One call with root's token, or another one, or none when it is empty. */
  call(
    name: string,
    request: Message = {},
    { token = this.token, ...options }: { token?: string } & grpc.CallOptions = {},
  ): Promise<Message> {
    const metadata = new grpc.Metadata();
    if (token !== "") metadata.set("authorization", `Bearer ${token}`);
    return new Promise((resolve, reject) => {
      this.client[name]?.(request, metadata, options, (error, answer) =>
        error === null ? resolve(answer) : reject(error),
      );
    });
  }

  /** The status, code of ours and text of a call that has to fail. */
  async refusal(...call: Parameters<GrpcUnderTest["call"]>) {
    const failed = await this.call(...call).then(
      () => assert.fail(`${call[0]} was answered`),
      (error: grpc.ServiceError) => error,
    );
    const code = Number(failed.metadata.get("millrace-code")[0] ?? 0);
    return { status: failed.code, code, text: failed.details };
  }

  /** Logs in as root and remembers the token. */
  async login(): Promise<void> {
    this.token = (await this.call("Login", { username: "iggy", password: "iggy" })).token;
  }

  /** A stream `s` with a topic `t`. */
  async makeTopic(partitionsCount = 1): Promise<void> {
    await this.call("CreateStream", { name: "s" });
    await this.call("CreateTopic", { stream: { name: "s" }, name: "t", partitions_count: partitionsCount });
  }

  /** Stops in order and removes the folder. */
  async stop(): Promise<void> {
    this.client.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true });
  }
}

function stockClient(address: string, credentials: grpc.ChannelCredentials): StockClient {
  const loaded = grpc.loadPackageDefinition(loadSync(PROTO, READ_AS)) as Message;
  return new loaded.millrace.v1.Millrace(address, credentials);
}
