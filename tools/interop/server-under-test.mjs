import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const serverFolder = join(root, "apps", "server");

/** A start on an empty or small folder takes less than a second; this is for a machine that is busy. */
const startTimeoutMs = 30_000;
/** A stop flushes and closes; a server that needs longer than this hangs. */
const stopTimeoutMs = 15_000;

/** The path of the built server; builds the repository first when there is none. */
function builtServer() {
  const manifest = JSON.parse(readFileSync(join(serverFolder, "package.json"), "utf8"));
  const entry = join(serverFolder, manifest.bin["millrace-server"]);
  if (!existsSync(entry))
    execFileSync(process.execPath, [join(root, "tools", "dev.mjs"), "build"], { stdio: "inherit" });
  return entry;
}

/** The environment without settings that a person has for a server or client of their own. */
export function cleanEnvironment(more = {}) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MILLRACE|IGGY)_/.test(name));
  return { ...Object.fromEntries(kept), ...more };
}

/** A built Millrace server as its own process, with its data in a temporary folder of its own. */
export class ServerUnderTest {
  #folder = mkdtempSync(join(tmpdir(), "millrace-interop-"));
  #environment;
  #args;
  #child;
  /** `host:port` once started; the same after a restart. */
  address = "127.0.0.1:0";
  /** The same of the WebSocket listener. */
  webSocketAddress = "127.0.0.1:0";
  /** The same of the HTTP API. */
  httpAddress = "127.0.0.1:0";

  /**
   * @param environment  settings of this server beside its addresses and its folder
   * @param args         arguments beside the one about credentials
   */
  constructor(environment = {}, args = []) {
    this.#environment = environment;
    this.#args = args;
  }

  /** What a judge may ask for by a line of that word, and what it reads then. */
  orders = {
    restart: async () => {
      await this.restart();
      return "running";
    },
  };

  /** Starts the server and waits until it says where it listens; otherwise throws the end of its log. */
  async start() {
    const entry = builtServer();
    const log = openSync(this.#logPath, "w");
    this.#child = spawn(process.execPath, [entry, "--with-default-root-credentials", ...this.#args], {
      cwd: this.#folder,
      stdio: ["ignore", log, log],
      env: cleanEnvironment({
        MILLRACE_TCP_ADDRESS: this.address,
        MILLRACE_WEBSOCKET_ADDRESS: this.webSocketAddress,
        MILLRACE_HTTP_ADDRESS: this.httpAddress,
        MILLRACE_PATH: join(this.#folder, "data"),
        ...this.#environment,
      }),
    });
    closeSync(log);
    for (const end = Date.now() + startTimeoutMs; Date.now() < end; await sleep(20)) {
      const printed = readFileSync(this.#logPath, "utf8");
      const addressOf = (name) => new RegExp(`^ *${name} +(127\\.0\\.0\\.1:\\d+)$`, "m").exec(printed)?.[1];
      if (/^ *data /m.test(printed) && addressOf("tcp") !== undefined) {
        this.address = addressOf("tcp");
        this.webSocketAddress = addressOf("ws") ?? this.webSocketAddress;
        this.httpAddress = addressOf("http") ?? this.httpAddress;
        return;
      }
      if (this.#child.exitCode !== null) break;
    }
    throw new Error(`it did not start.\n${this.#logEnd()}`);
  }

  /** Kills the server without warning and starts it again on the same port and folder. */
  async restart() {
    await this.kill();
    await this.start();
  }

  /** Kills the server without warning and waits until it is gone. */
  async kill() {
    await this.#signal("SIGKILL");
  }

  /** Asks the server to stop; says how it ended, `exit code 0` when in order. */
  async stop() {
    if (this.#child.exitCode !== null) return `it had ended before.\n${this.#logEnd()}`;
    return this.#signal("SIGTERM");
  }

  /** Ends the process whatever its state. The folder stays, named, when something failed. */
  end(keepFolder) {
    this.#child?.kill("SIGKILL");
    if (keepFolder) console.log(`        data and log of this server: ${this.#folder}`);
    else rmSync(this.#folder, { recursive: true, force: true });
  }

  get #logPath() {
    return join(this.#folder, "server.log");
  }

  #logEnd() {
    return readFileSync(this.#logPath, "utf8").split("\n").slice(-20).join("\n");
  }

  async #signal(signal) {
    const child = this.#child;
    const ended = new Promise((resolve) => {
      child.once("exit", (code, by) => resolve(code === null ? `ended by ${by}` : `exit code ${code}`));
    });
    child.kill(signal);
    const tooLong = sleep(stopTimeoutMs, `still running ${stopTimeoutMs} ms after ${signal}`, { ref: false });
    return Promise.race([ended, tooLong]);
  }
}
