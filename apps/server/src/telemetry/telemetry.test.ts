import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { Server as GrpcServer, type handleUnaryCall, ServerCredentials } from "@grpc/grpc-js";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { encodeCreateStream, NO_OPTIONS } from "@millrace/protocol";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";
import { loadSdk } from "./load-sdk.ts";

const PASSWORD = "the-password-of-the-root";

/** Takes what a collector would: bodies by path. */
async function collector(
  status: number,
): Promise<{ base: string; received: Map<string, string>; server: Server }> {
  const received = new Map<string, string>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      received.set(path, (received.get(path) ?? "") + Buffer.concat(chunks).toString("latin1"));
      response.writeHead(status).end();
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}

/** A collector that speaks gRPC: bodies by the last part of the service's name. */
async function grpcCollector() {
  const received = new Map<string, string>();
  const server = new GrpcServer();
  const asItIs = (bytes: Buffer) => bytes;
  for (const name of ["trace.v1.TraceService", "logs.v1.LogsService"]) {
    const exported = {
      path: `/opentelemetry.proto.collector.${name}/Export`,
      requestStream: false,
      responseStream: false,
      requestSerialize: asItIs,
      requestDeserialize: asItIs,
      responseSerialize: asItIs,
      responseDeserialize: asItIs,
    } as const;
    const take: handleUnaryCall<Buffer, Buffer> = ({ request }, answer) => {
      received.set(name, (received.get(name) ?? "") + request.toString("latin1"));
      answer(null, Buffer.alloc(0));
    };
    server.addService({ Export: exported }, { Export: take });
  }
  const bind = promisify(server.bindAsync.bind(server));
  const port = await bind("127.0.0.1:0", ServerCredentials.createInsecure());
  return { base: `http://127.0.0.1:${port}`, received, server };
}

function environmentFor(base: string): Record<string, string> {
  return {
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ENABLED: "false",
    MILLRACE_WEBSOCKET_ENABLED: "false",
    MILLRACE_ROOT_USERNAME: "admin",
    MILLRACE_ROOT_PASSWORD: PASSWORD,
    MILLRACE_TELEMETRY_ENABLED: "true",
    MILLRACE_TELEMETRY_SERVICE_NAME: "mill-7",
    MILLRACE_TELEMETRY_TRACES_TRANSPORT: "http",
    MILLRACE_TELEMETRY_TRACES_ENDPOINT: `${base}/v1/traces`,
    MILLRACE_TELEMETRY_LOGS_TRANSPORT: "http",
    MILLRACE_TELEMETRY_LOGS_ENDPOINT: `${base}/v1/logs`,
  };
}

/** Starts, logs in, makes a stream twice and stops; answers with the log. */
async function runAgainst(base: string, more: Record<string, string> = {}): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "millrace-telemetry-"));
  const server = new ServerProcess(["--data", data], { ...environmentFor(base), ...more });
  try {
    const client = new RawClient(await server.port());
    assert.equal((await client.login("admin", PASSWORD)).code, 0);
    const body = encodeCreateStream({ name: "a-name-of-mine", options: NO_OPTIONS });
    assert.equal((await client.command("CreateStream", body)).code, 0);
    assert.notEqual((await client.command("CreateStream", body)).code, 0);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0, server.stderr);
    return server.stderr;
  } finally {
    server.signal("SIGKILL");
    await rm(data, { recursive: true, force: true });
  }
}

test("A collector gets a span per command and every log line, under the service's name, without a secret.", async () => {
  const { base, received, server } = await collector(200);
  await runAgainst(base);
  server.close();
  const [traces = "", logs = ""] = [received.get("/v1/traces"), received.get("/v1/logs")];
  assert.match(traces, /mill-7/);
  assert.match(traces, /LoginRegister/);
  assert.equal(traces.match(/CreateStream/g)?.length, 2);
  assert.match(traces, /millrace\.code/);
  assert.match(logs, /mill-7/);
  for (const line of [/The listeners are open\./, /Stopping\./, /Stopped\./]) assert.match(logs, line);
  for (const secret of [PASSWORD, "a-name-of-mine"]) {
    assert.ok(!traces.includes(secret) && !logs.includes(secret), secret);
  }
});

test("A collector that speaks gRPC, as by default, gets the same.", async () => {
  const { base, received, server } = await grpcCollector();
  const grpc = { TRANSPORT: "grpc", ENDPOINT: base };
  const settings = ["TRACES", "LOGS"].flatMap((signal) =>
    Object.entries(grpc).map(([key, value]) => [`MILLRACE_TELEMETRY_${signal}_${key}`, value] as const),
  );
  const log = await runAgainst(base, Object.fromEntries(settings));
  server.forceShutdown();
  assert.doesNotMatch(log, /telemetry is lost/);
  const [traces = "", logs = ""] = [
    received.get("trace.v1.TraceService"),
    received.get("logs.v1.LogsService"),
  ];
  assert.match(traces, /mill-7/);
  assert.equal(traces.match(/CreateStream/g)?.length, 2);
  assert.match(logs, /The listeners are open\./);
  assert.ok(!`${traces}${logs}`.includes(PASSWORD));
});

test("A collector that refuses or is not there does not trouble the server, which says so once.", async () => {
  const { base, received, server } = await collector(400);
  const refused = await runAgainst(base);
  assert.ok((received.get("/v1/traces") ?? "").length > 0);
  server.close();
  const gone = await runAgainst("http://127.0.0.1:9");
  for (const [name, log] of Object.entries({ refused, gone })) {
    assert.equal(log.match(/telemetry is lost: /g)?.length, 1, `${name}: ${log}`);
    assert.match(log, /Stopped\./);
  }
});

test("Without the packages a start is refused with the command that installs them.", async () => {
  const load = () => Promise.reject(new Error("Cannot find package '@opentelemetry/sdk-node'"));
  await assert.rejects(loadSdk(load), (error) => {
    assert.ok(isCodedError(error, ErrorCode.FeatureUnavailable));
    assert.match(
      error.message,
      /telemetry\.enabled.*npm install @opentelemetry\/api.* @opentelemetry\/sdk-node/,
    );
    return true;
  });
});
