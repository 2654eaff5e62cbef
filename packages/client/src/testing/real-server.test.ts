import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

/** The built server; it is a development dependency, so that it is built before this package's tests. */
const SERVER = createRequire(import.meta.url).resolve("millrace-server/dist/bin/millrace-server.js");

/** The tests also pass with 2 and with 4. */
const SHARDS = process.env["MILLRACE_TEST_SHARDS"] ?? "1";

/** A server does not need longer to start, even on a busy machine. */
const START_TIMEOUT_MS = 30_000;

const BANNER = /^\s*tcp\s+(\S+:\d+)\s+ws\s+(\S+:\d+)\s+(?:grpc\s+(\S+:\d+)\s+)?(?:http\s+(\S+:\d+)\s+)?data/m;

/** A server process of its own folder on a loopback port; it can be killed and started again. */
export class RealServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "millrace-client-"));
  #environment: Readonly<Record<string, string>>;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;
  /** `host:port`; the port stays over a restart. */
  address = "127.0.0.1:0";
  /** `host:port` of the WebSocket listener; the port stays over a restart. */
  webSocketAddress = "127.0.0.1:0";
  /** `host:port` of the gRPC listener of the last start; empty when it is off. */
  grpcAddress = "";
  /** `host:port` of the HTTP API of the last start; empty when it is off. */
  httpAddress = "";

  /**
   * @param environment  configuration by variable, for example `MILLRACE_HEARTBEAT_INTERVAL`
   * @param args         flags beside the folder
   */
  constructor(environment: Readonly<Record<string, string>> = {}, args: readonly string[] = []) {
    this.#environment = environment;
    this.#args = args;
  }

  /** Has the HTTP API listen at that address from the next start on. */
  keepHttpAddress(address: string): void {
    this.#environment = { ...this.#environment, MILLRACE_HTTP_ADDRESS: address };
  }

  async start(): Promise<void> {
    const args = [SERVER, "--data", this.#folder, "--with-default-root-credentials", ...this.#args];
    const child = spawn(process.execPath, args, {
      env: {
        ...process.env,
        MILLRACE_HTTP_ENABLED: "false",
        MILLRACE_TCP_ADDRESS: this.address,
        MILLRACE_WEBSOCKET_ADDRESS: this.webSocketAddress,
        MILLRACE_SHARDING_CPU_ALLOCATION: SHARDS,
        ...this.#environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    [this.address, this.webSocketAddress, this.grpcAddress, this.httpAddress] = await addressesOf(child);
  }

  /** Ends the process as a crash would. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Ends the process as whoever runs it does: it is told to, and closes what is open. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const exited = once(this.#child as ChildProcess, "exit");
    this.#child?.kill(signal);
    await exited;
  }

  async remove(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function addressesOf(
  child: ChildProcess,
): Promise<[tcp: string, webSocket: string, grpc: string, http: string]> {
  return new Promise((resolve, reject) => {
    let text = "";
    const giveUp = () => reject(new Error(`the server said nothing of an address:\n${text}`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    const onText = (chunk: Buffer) => {
      text += chunk.toString();
      const [, tcp, webSocket, grpc = "", http = ""] = BANNER.exec(text) ?? [];
      if (tcp === undefined || webSocket === undefined) return;
      clearTimeout(timer);
      resolve([tcp, webSocket, grpc, http]);
    };
    child.stdout?.on("data", onText);
    child.stderr?.on("data", onText);
    child.once("exit", giveUp);
  });
}

test("the server of the end-to-end tests is built", () => assert.ok(existsSync(SERVER)));
