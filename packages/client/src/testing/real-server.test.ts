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

/** A server does not need longer to start, even on a busy machine. */
const START_TIMEOUT_MS = 30_000;

/** A server process of its own folder on a loopback port; it can be killed and started again. */
export class RealServer {
  readonly #folder = mkdtempSync(join(tmpdir(), "millrace-client-"));
  readonly #settings: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  /** `host:port`; the port stays over a restart. */
  address = "127.0.0.1:0";

  /** @param settings  configuration by variable, for example `MILLRACE_HEARTBEAT_INTERVAL` */
  constructor(settings: Readonly<Record<string, string>> = {}) {
    this.#settings = settings;
  }

  async start(): Promise<void> {
    const args = [SERVER, "--data", this.#folder, "--with-default-root-credentials"];
    const child = spawn(process.execPath, args, {
      env: {
        ...process.env,
        MILLRACE_HTTP_ENABLED: "false",
        ...this.#settings,
        MILLRACE_TCP_ADDRESS: this.address,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.address = await addressOf(child);
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    const exited = once(this.#child as ChildProcess, "exit");
    this.#child?.kill("SIGKILL");
    await exited;
  }

  async remove(): Promise<void> {
    if (this.#child?.exitCode === null && this.#child.signalCode === null) await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const giveUp = () => reject(new Error(`the server said nothing of an address:\n${text}`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    const onText = (chunk: Buffer) => {
      text += chunk.toString();
      const [, address] = /^\s*tcp\s+(\S+:\d+)\s*$/m.exec(text) ?? [];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout?.on("data", onText);
    child.stderr?.on("data", onText);
    child.once("exit", giveUp);
  });
}

test("the server of the end-to-end tests is built", () => assert.ok(existsSync(SERVER)));
