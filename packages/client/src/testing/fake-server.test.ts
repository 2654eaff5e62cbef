import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeRequestHeader,
  encodeEvictionHeader,
  encodeReplyHeader,
  HEADER_LENGTH,
  type RequestHeader,
} from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import {
  CommandCode,
  commandByCode,
  commandByOperation,
  decodeResultSection,
  encodeGetClusterMetadataReply,
  encodeLoginReply,
  encodeResultRejection,
  encodeResultSuccess,
  hasResultSection,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import { createMemoryTransport, type MemoryTransport } from "@millrace/transports/memory";
import type { ClientOptions } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import { createDefaultPlatform } from "../default-platform.ts";
import { MillraceClient } from "../millrace-client.ts";

/** One request a fake server got, and the ways to answer it. */
export class FakeRequest {
  readonly header: RequestHeader;
  readonly headerBytes: Uint8Array;
  readonly body: Uint8Array;
  readonly connection: Connection;

  constructor(message: Uint8Array, connection: Connection) {
    this.headerBytes = message.slice(0, HEADER_LENGTH);
    this.header = decodeRequestHeader(this.headerBytes);
    this.body = message.slice(HEADER_LENGTH);
    this.connection = connection;
  }

  /** Name of the command, `LoginRegister` for every Register. */
  get command(): string {
    const { operation, code } = this.header;
    const command =
      operation === Operation.NonReplicated ? commandByCode(code) : commandByOperation(operation);
    return command?.name ?? `operation ${operation}`;
  }

  get number(): number {
    return Number(this.header.request);
  }

  /** Answers a success; the result section is put in front where the operation has one. */
  succeed(payload: Uint8Array = new Uint8Array(0), operation = this.header.operation): void {
    this.#reply(hasResultSection(operation) ? encodeResultSuccess(payload) : payload, { operation });
  }

  /** Answers a code in the header. */
  deny(status: number, reason = ""): void {
    this.#reply(new TextEncoder().encode(reason), { status });
  }

  /** Answers a code in the result section. */
  reject(code: number): void {
    this.#reply(encodeResultRejection(code), {});
  }

  evict(reason: number, version = 0): void {
    const bytes = new Uint8Array(HEADER_LENGTH);
    const { client } = this.header;
    encodeEvictionHeader(bytes, {
      client,
      reason,
      serverProtocolVersion: version,
      serverProtocolVersionMin: version,
    });
    this.connection.send([bytes]);
    this.connection.close();
  }

  #reply(body: Uint8Array, fields: { operation?: number; status?: number }): void {
    const header = new Uint8Array(HEADER_LENGTH);
    encodeReplyHeader(header, this.headerBytes, { bodyLength: body.length, ...fields });
    this.connection.send([header, body]);
  }
}

/** Answers some requests itself; what it leaves (false) goes to the defaults. */
export type FakeScript = (request: FakeRequest) => boolean | undefined;

/**
 * A server of scripted answers over the memory transport. Without a script it logs everybody in, is a
 * single node, and answers everything else with an empty success.
 */
export class FakeServer {
  readonly requests: FakeRequest[] = [];
  readonly connections: Connection[] = [];
  readonly platform: ClientPlatform;
  script: FakeScript = () => false;
  /** False: connecting fails. */
  isListening = true;
  logins = 0;
  readonly #transport: MemoryTransport;

  constructor(pieceLength: (length: number) => number = (length) => length) {
    this.#transport = createMemoryTransport({ pieceLength });
    this.#transport.listen((connection) => {
      this.connections.push(connection);
      connection.onMessage = (lease) => this.#onMessage(new FakeRequest(lease.bytes, connection));
    });
    this.platform = {
      ...createDefaultPlatform(),
      connect: async ({ host, port }) => {
        if (this.isListening) return this.#transport.connect();
        const { CodedError, ErrorCode } = await import("@millrace/errors");
        throw new CodedError(ErrorCode.CannotEstablishConnection, `Nobody listens at ${host}:${port}.`);
      },
    };
  }

  connect(options: ClientOptions = {}): Promise<MillraceClient> {
    return MillraceClient.connect({
      username: "iggy",
      password: "iggy",
      reconnect: { intervalMs: 5, jitter: 0 },
      platform: this.platform,
      ...options,
    });
  }

  /** Requests of one command, in order of arrival. */
  received(command: string): FakeRequest[] {
    return this.requests.filter((request) => request.command === command);
  }

  /** Cuts the newest connection as a crash would. */
  cut(): void {
    const newest = this.connections.at(-1);
    newest?.close(new Error("cut") as never);
  }

  #onMessage(request: FakeRequest): void {
    this.requests.push(request);
    if (this.script(request) === true) return;
    if (request.header.operation === Operation.Register) {
      this.logins += 1;
      request.succeed(
        encodeLoginReply({
          userId: 0,
          session: this.logins * 10,
          serverProtocolVersion: PROTOCOL_VERSION,
          serverVersion: "0.9.0",
        }),
      );
    } else if (request.header.code === CommandCode.GetClusterMetadata) {
      request.succeed(encodeGetClusterMetadataReply({ name: "single-node", nodes: [node("127.0.0.1", 1)] }));
    } else request.succeed();
  }
}

/** A healthy leader of a roster. */
export function node(ip: string, tcpPort: number, role: "leader" | "follower" = "leader") {
  const ports = { tcpPort, quicPort: 0, httpPort: 0, websocketPort: 0 };
  return { name: "iggy-node", ip, ...ports, role, status: "healthy" } as const;
}

test("the fake server answers with the bytes of a server", async () => {
  const server = new FakeServer();
  const connection = await server.platform.connect({
    host: "fake",
    port: 1,
    timeoutMs: 1,
    noDelay: true,
    messageLengthMax: 1000,
  });
  const answered = new Promise<Uint8Array>((resolve) => {
    connection.onMessage = (lease) => resolve(lease.bytes.slice());
  });
  const { encodeRequestHeader } = await import("@millrace/framing");
  const header = new Uint8Array(HEADER_LENGTH);
  encodeRequestHeader(header, { length: HEADER_LENGTH, client: 7n, operation: Operation.CreateStream });
  connection.send([header]);
  const reply = await answered;
  assert.deepEqual(decodeResultSection(reply.subarray(HEADER_LENGTH)).code, 0);
  connection.close();
});
