import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../dist/bin/millrace-server.js", import.meta.url));
/** A start or stop that takes longer has failed. */
const PATIENCE_MS = 15_000;

/** Another server on this machine may have the ports of the defaults. */
const FREE_PORTS = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
};

/**
 * Little memory, or more and shards when the run asks for them (`MILLRACE_TEST_SHARDS`); a test that says how
 * much
 * memory there is has one shard.
 */
function memoryAndShards(environment: Record<string, string>): Record<string, string> {
  const shards = process.env["MILLRACE_TEST_SHARDS"];
  if (shards === undefined || environment["MILLRACE_MEMORY_POOL_SIZE"] !== undefined) {
    return { MILLRACE_MEMORY_POOL_SIZE: "128 MiB" };
  }
  return { MILLRACE_MEMORY_POOL_SIZE: "512 MiB", MILLRACE_SHARDING_CPU_ALLOCATION: shards };
}

/** A server of its own process, and what it has printed so far. */
export class ServerProcess {
  stdout = "";
  stderr = "";
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | string>;

  /**
   * Starts the built server, or a copy of it. Nothing of the test's own environment reaches it but the path.
   */
  constructor(args: readonly string[], environment: Record<string, string> = {}, entry = ENTRY) {
    assert.ok(existsSync(entry), "the server is built: run the build script of apps/server first");
    this.#child = spawn(process.execPath, [entry, ...args], {
      env: {
        PATH: process.env["PATH"] ?? "",
        ...FREE_PORTS,
        ...memoryAndShards(environment),
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child.stdout?.on("data", (bytes) => {
      this.stdout += String(bytes);
    });
    this.#child.stderr?.on("data", (bytes) => {
      this.stderr += String(bytes);
    });
    this.#exited = new Promise((resolve) =>
      this.#child.on("close", (code, signal) => resolve(code ?? signal ?? "gone")),
    );
  }

  /** The port of the TCP listener, once the server is ready. */
  async port(): Promise<number> {
    const deadlineMs = Date.now() + PATIENCE_MS;
    for (;;) {
      const port = / {2}tcp {2}\S+:(\d+)\n/.exec(this.stdout)?.[1];
      if (port !== undefined) return Number(port);
      assert.ok(Date.now() < deadlineMs && this.#child.exitCode === null, `not ready: ${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Where the HTTP API is, once the server is ready. */
  http(): string {
    const address = / {2}http (\S+)\n/.exec(this.stdout)?.[1];
    assert.ok(address !== undefined, this.stdout);
    return `http://${address}`;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Exit code, or the signal's name. */
  async exit(): Promise<number | string> {
    const cutOff = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
    const code = await this.#exited;
    clearTimeout(cutOff);
    return code;
  }
}
