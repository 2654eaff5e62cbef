import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The built command; tests of whole processes need `pnpm build` first. */
export const CLI = fileURLToPath(new URL("../../dist/bin/millrace.js", import.meta.url));

/** The tests also pass with 2 and with 4. */
const SHARDS = process.env["MILLRACE_TEST_SHARDS"] ?? "1";

/** A server does not need longer to start, even on a busy machine. */
const START_TIMEOUT_MS = 30_000;

/** A server that `millrace server` started on a free port, with its data in a folder of its own. */
export interface ServerUnderTest {
  readonly address: string;
  /** `host:port` of the WebSocket listener; empty when it is off. */
  readonly webSocketAddress: string;
  /** `host:port` of HTTP; empty while that is off. */
  readonly httpAddress: string;
  readonly child: ChildProcess;
  /** Asks it to stop and answers the exit code of `millrace server`. */
  stop(): Promise<number | null>;
}

/** What a test may choose of its server. */
export interface ServerOptions {
  /** Folder of its data, kept at the end; by default one of its own. */
  readonly folder?: string;
  /** Configuration by variable. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a server through the command and waits for its banner. */
export async function startServer(options: ServerOptions = {}): Promise<ServerUnderTest> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "millrace-cli-server-"));
  const args = [CLI, "server", "--data", folder, "--with-default-root-credentials"];
  const child = spawn(process.execPath, args, {
    env: {
      ...process.env,
      MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
      MILLRACE_HTTP_ENABLED: "false",
      MILLRACE_WEBSOCKET_ENABLED: "false",
      MILLRACE_SHARDING_CPU_ALLOCATION: SHARDS,
      ...options.environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await exited;
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    return code;
  };
  try {
    return { ...(await addressesOf(child)), child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Addresses = Pick<ServerUnderTest, "address" | "webSocketAddress" | "httpAddress">;

function addressesOf(child: ChildProcess): Promise<Addresses> {
  return new Promise((resolve, reject) => {
    let text = "";
    const giveUp = () => reject(new Error(`no banner from the server; it printed:\n${text}`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    const onText = (chunk: Buffer) => {
      text += chunk.toString();
      const [, address, webSocketAddress = ""] =
        /^\s*tcp\s+(\S+:\d+)(?:[\s\S]*?^\s*ws\s+(\S+:\d+))?/m.exec(text) ?? [];
      if (address === undefined || !/^\s*data\s/m.test(text)) return;
      clearTimeout(timer);
      const [, httpAddress = ""] = /^\s*http\s+(?:https?:\/\/)?(\S+:\d+)/m.exec(text) ?? [];
      resolve({ address, webSocketAddress, httpAddress });
    };
    child.stdout?.on("data", onText);
    child.stderr?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.once("exit", giveUp);
  });
}

/** What a finished process left behind. */
export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts the built command against a server, over TCP when its address is given; `finished` resolves when it
 * has ended.
 */
export function spawnCli(
  args: readonly string[],
  server: { readonly address: string } | undefined,
  environment: Readonly<Record<string, string>> = CREDENTIALS,
) {
  const there = server === undefined ? [] : ["--tcp-server-address", server.address];
  const all = [CLI, ...there, ...args];
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, all, { env, stdio: ["pipe", "pipe", "pipe"] });
  const texts = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    texts.stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    texts.stderr += chunk.toString();
  });
  const finished = new Promise<Finished>((resolve) => {
    child.once("close", (exitCode) => resolve({ exitCode, ...texts }));
  });
  return { child, finished };
}

const CREDENTIALS = { MILLRACE_USERNAME: "iggy", MILLRACE_PASSWORD: "iggy" };

/** Runs the built command against a server to its end, with `stdin` as its standard input. */
export async function runReal(
  args: readonly string[],
  server: { readonly address: string },
  stdin = "",
): Promise<Finished> {
  const { child, finished } = spawnCli(args, server);
  child.stdin.end(stdin);
  return finished;
}
