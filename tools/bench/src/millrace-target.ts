import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { killChild, outputOf, spawnServerNode, stopChild, type Target } from "./child-process.ts";
import { LoadConnection } from "./load-connection.ts";
import { CLIENT, RequestFactory } from "./requests.ts";

/** Another build to measure, for comparisons of two builds on one machine. */
const SERVER =
  process.env["MILLRACE_BENCH_SERVER"] ??
  fileURLToPath(new URL("../../../apps/server/dist/bin/millrace-server.js", import.meta.url));

/** A Millrace server under measurement; `port` is TCP's. */
export interface MillraceTarget extends Target {
  /** Port of another listener, by its name in the banner. */
  portOf(listener: string): number;
  /** Ends it as a crash would; `stop` still has to be called. */
  kill(): Promise<void>;
}

/** What both kinds of connections of the benchmark can do. */
interface Caller {
  call(request: Buffer): Promise<Buffer>;
}

/** A folder of its own for what a server or a limit writes; whoever asks removes it. */
export function makeDataFolder(): Promise<string> {
  return mkdtemp(join(process.env["MILLRACE_BENCH_DIR"] ?? tmpdir(), "millrace-bench-"));
}

/** How the built server is started, beside its folder. */
export interface StartOptions {
  /** Cores it may use, as `taskset` names them; the first one otherwise. */
  readonly cores?: string;
  readonly args?: readonly string[];
}

/** Starts the built server on a fresh data directory; `stop` removes it. */
export async function startMillrace(
  env: NodeJS.ProcessEnv = {},
  options: StartOptions = {},
): Promise<MillraceTarget> {
  const folder = await makeDataFolder();
  const target = await startMillraceOn(folder, env, options);
  const stop = async () => {
    await target.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...target, stop };
}

/** Starts the built server on a data directory that stays when it stops. */
export async function startMillraceOn(
  folder: string,
  env: NodeJS.ProcessEnv = {},
  { cores, args = [] }: StartOptions = {},
): Promise<MillraceTarget> {
  const settings = {
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ENABLED: "false",
    MILLRACE_PATH: folder,
    MILLRACE_LOGGING_LEVEL: process.env["MILLRACE_LOGGING_LEVEL"] ?? "warn",
    ...env,
  };
  const child = spawnServerNode([SERVER, "--with-default-root-credentials", ...args], settings, cores);
  const [banner] = await outputOf(child, /^ {2}tcp[\s\S]*^ {2}data/m);
  const portOf = (listener: string) =>
    Number(new RegExp(`^ {2}${listener} +127\\.0\\.0\\.1:(\\d+)$`, "m").exec(banner)?.[1]);
  const [stop, kill] = [() => stopChild(child), () => killChild(child)];
  return { pid: child.pid ?? 0, port: portOf("tcp"), portOf, stop, kill };
}

/** A logged-in benchmark client of a Millrace server. */
export async function openClient(
  port: number,
  client = CLIENT,
): Promise<{ connection: LoadConnection; requests: RequestFactory }> {
  const connection = await LoadConnection.open(port);
  return { connection, requests: await logIn(connection, client) };
}

/** Logs a connection in; its further requests come from what is returned. */
export async function logIn(connection: Caller, client = CLIENT): Promise<RequestFactory> {
  const requests = new RequestFactory(client);
  const reply = await connection.call(requests.login("iggy", "iggy"));
  if (reply[60] !== 8) throw new Error(`login refused, reason ${reply[255]}`);
  requests.adopt(reply);
  return requests;
}
