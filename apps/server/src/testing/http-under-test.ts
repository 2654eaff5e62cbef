import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Broker, createBroker } from "@millrace/broker";
import { BlockPool, type ChecksumKernel, createChecksumKernel } from "@millrace/framing";
import { createNodePlatform } from "@millrace/platform/node";
import { createPrometheusMetrics } from "@millrace/platform/prometheus";
import type { HttpListener } from "@millrace/transports/http/server";
import { listenTcp, type TcpListener } from "@millrace/transports/tcp/server";
import { loadConfig } from "../config/load-config.ts";
import { brokerConfig } from "../start/broker-config.ts";
import { singleNodeRoster } from "../start/roster.ts";
import { startHttp } from "../start/start-http.ts";

const MIB = 1024 * 1024;
/** A kernel's memory takes much address space, so the servers of a test process share one, in turn. */
let kernel: ChecksumKernel | undefined;

/** An answer, with its body as text and, where it is JSON without wide numbers, parsed. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly json: any;
}

/** What a request may carry. */
export interface HttpRequest {
  readonly token?: string;
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A broker with HTTP and TCP listeners in this process, and a folder of its own. */
export class HttpUnderTest {
  readonly broker: Broker;
  readonly pool: BlockPool;
  readonly tcp: TcpListener;
  readonly http: HttpListener;
  readonly folder: string;
  /** Token of root, once `login` was called. */
  token = "";

  private constructor(parts: {
    broker: Broker;
    pool: BlockPool;
    tcp: TcpListener;
    http: HttpListener;
    folder: string;
  }) {
    this.broker = parts.broker;
    this.pool = parts.pool;
    this.tcp = parts.tcp;
    this.http = parts.http;
    this.folder = parts.folder;
  }

  /** Starts on a fresh folder, or on the one given; `settings` are environment variables without prefix. */
  static async start(settings: Record<string, string> = {}, folder?: string): Promise<HttpUnderTest> {
    const path = folder ?? (await mkdtemp(join(tmpdir(), "millrace-http-")));
    const environment = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`MILLRACE_${key}`, value]),
    );
    const { config } = await loadConfig({
      environment: {
        MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
        MILLRACE_MESSAGE_BUS_MAX_MESSAGE_SIZE: "8 MiB",
        ...environment,
      },
    });
    const metrics = createPrometheusMetrics();
    const platform = createNodePlatform({ dataPath: path, metrics });
    kernel ??= createChecksumKernel({ memoryLength: 64 * MIB });
    const pool = new BlockPool(kernel.memory, { checked: true, blockLength: MIB / 4 });
    let ports = { tcp: 0, http: 0 };
    const broker = await createBroker({
      platform,
      kernel,
      pool,
      config: { ...brokerConfig(config), tailCacheLengthMax: 8 * MIB },
      roster: () =>
        singleNodeRoster(
          { host: "127.0.0.1", tcpPort: ports.tcp, httpPort: ports.http, websocketPort: 0 },
          config,
        ),
      rootUser: async () => ({ name: "iggy", passwordHash: await platform.passwords.hash("iggy") }),
    });
    const onConnection: Parameters<typeof listenTcp>[0]["onConnection"] = (connection) =>
      broker.onConnection(connection);
    const messageLengthMax = config.message_bus.max_message_size;
    const tcp = await listenTcp({
      host: "127.0.0.1",
      port: 0,
      leases: pool,
      messageLengthMax,
      connectionsMax: 100,
      onConnection,
      log: platform.log,
    });
    const http = await startHttp({ config, platform, metrics, broker, kernel, pool }).catch(
      async (error: unknown) => {
        await tcp.close();
        await broker.stop({ drainMs: 0 });
        await rm(path, { recursive: true });
        throw error;
      },
    );
    assert.ok(http !== undefined);
    ports = { tcp: tcp.port, http: http.port };
    return new HttpUnderTest({ broker, pool, tcp, http, folder: path });
  }

  get url(): string {
    return `http://${this.http.address}`;
  }

  /** One request; with root's token unless another, or an empty one, is given. */
  async call(method: string, path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const { token = this.token, body } = request;
    const headers: Record<string, string> = { ...request.headers };
    if (token !== "") headers["authorization"] ??= `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] ??= "application/json";
    const content = typeof body === "string" ? body : body === undefined ? null : JSON.stringify(body);
    const response = await fetch(`${this.url}${path}`, { method, headers, body: content });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  }

  /** Logs in and remembers the token. */
  async login(username = "iggy", password = "iggy"): Promise<string> {
    const answer = await this.call("POST", "/users/login", { token: "", body: { username, password } });
    assert.equal(answer.status, 200, answer.text);
    this.token = answer.json.access_token.token;
    return this.token;
  }

  /** A stream `s` with a topic `t`. */
  async makeTopic(partitionsCount = 1, options: Record<string, string> = {}): Promise<void> {
    assert.equal((await this.call("POST", "/streams", { body: { name: "s" } })).status, 200);
    const body = { ...TOPIC, partitions_count: partitionsCount, options };
    const answer = await this.call("POST", "/streams/s/topics", { body });
    assert.equal(answer.status, 200, answer.text);
  }

  /** Stops in order and sees that no message memory is held any more. The folder stays when asked. */
  async stop(options: { readonly keepFolder?: boolean } = {}): Promise<void> {
    await Promise.all([this.http.close(), this.tcp.close()]);
    await this.broker.stop({ drainMs: 2000 });
    assert.equal(this.pool.leasesOut, 0, "no lease is out after a stop");
    if (options.keepFolder !== true) await rm(this.folder, { recursive: true });
  }
}

/** Body of a create topic with everything that is needed but the number of partitions. */
export const TOPIC = {
  name: "t",
  partitions_count: 1,
  compression_algorithm: "none",
  message_expiry: 0,
  max_topic_size: 0,
};

/** Body of a send of these texts. */
export function sendBody(texts: readonly string[], partitioning: object = { kind: "balanced", value: "" }) {
  return { partitioning, messages: texts.map((text) => ({ payload: base64(text) })) };
}

/** Base64 of a text. */
export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
