import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { outputOf, spawnServerNode, stopChild, type Target } from "./child-process.ts";
import { LoadConnection } from "./load-connection.ts";
import { CLIENT, RequestFactory } from "./requests.ts";

/** Another build to measure, for comparisons of two builds on one machine. */
const SERVER =
  process.env["MILLRACE_BENCH_SERVER"] ??
  fileURLToPath(new URL("../../../apps/server/dist/bin/millrace-server.js", import.meta.url));

/** A Millrace server under measurement. */
export interface MillraceTarget extends Target {
  /** Port of the HTTP API, 0 when it is off. */
  readonly httpPort: number;
}

/** Starts the built server on a fresh data directory; `stop` removes it. */
export async function startMillrace(env: NodeJS.ProcessEnv = {}): Promise<MillraceTarget> {
  const folder = await mkdtemp(join(process.env["MILLRACE_BENCH_DIR"] ?? tmpdir(), "millrace-bench-"));
  const settings = {
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ENABLED: "false",
    MILLRACE_PATH: folder,
    MILLRACE_LOGGING_LEVEL: "warn",
    ...env,
  };
  const child = spawnServerNode([SERVER, "--with-default-root-credentials"], settings);
  const match = await outputOf(child, /tcp\s+127\.0\.0\.1:(\d+)\n(?: {2}http 127\.0\.0\.1:(\d+)\n)? {2}data/);
  const stop = async () => {
    await stopChild(child);
    await rm(folder, { recursive: true, force: true });
  };
  return { pid: child.pid ?? 0, port: Number(match[1]), httpPort: Number(match[2] ?? 0), stop };
}

/** A logged-in benchmark client of a Millrace server. */
export async function openClient(
  port: number,
  client = CLIENT,
): Promise<{ connection: LoadConnection; requests: RequestFactory }> {
  const connection = await LoadConnection.open(port);
  const requests = new RequestFactory(client);
  const reply = await connection.call(requests.login("iggy", "iggy"));
  if (reply[60] !== 8) throw new Error(`login refused, reason ${reply[255]}`);
  requests.adopt(reply);
  return { connection, requests };
}
