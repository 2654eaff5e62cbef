import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { KillPoint } from "../kill-points/kill-point.ts";
import { Violation } from "../oracle/violation.ts";

/** A start reads what the last crash left; one that needs longer hangs. */
const START_MAX_MS = 30_000;
/** A stop flushes and closes. */
const STOP_MAX_MS = 20_000;
const LOG_LINES_SHOWN = 20;
/** Makes a server listen for the orders of `killAt`. */
const DIE_AT_POINT = fileURLToPath(new URL("../kill-points/die-at-point.cjs", import.meta.url));

/** Ends of a start that is to be killed at a point. */
const OUTCOMES: Readonly<Record<string, "killed" | "ready" | "refused">> = {
  "ended by SIGKILL": "killed",
  ready: "ready",
  "ended with exit code 1": "refused",
};

/** Where a server runs. */
export interface ServerPlace {
  /** Path of the server's entry. */
  readonly entry: string;
  /** Folder of the run: `data` and `server.log` are in it. */
  readonly folder: string;
  readonly port: number;
  /** A program, with its arguments, that starts the server as this process's own child. */
  readonly runner?: readonly string[];
  /** Arguments of the server beside the ones that every server under torture has. */
  readonly args?: readonly string[];
  /** Configuration by variable. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether the server can be told to die at a point; its file calls are wrapped then. */
  readonly hasKillPoints?: boolean;
}

/**
 * One server on one data directory and one port, started, killed and started again. Only its own pid is
 * signalled.
 */
export class ServerProcess {
  readonly #place: ServerPlace;
  readonly #logPath: string;
  #child: ChildProcess | undefined;
  #isStopWanted = false;
  #isArmed = false;
  #mayRefuse = false;
  /** Resolves when all that the last process said is in the log. */
  #logEnd: Promise<void> = Promise.resolve();
  /** Called when the server ends without having been told to. */
  onUnwantedExit: (violation: Violation) => void = () => {};

  constructor(place: ServerPlace) {
    this.#place = place;
    this.#logPath = join(place.folder, "server.log");
  }

  /** `host:port`. */
  get address(): string {
    return `127.0.0.1:${this.#place.port}`;
  }

  /** True from the moment the server was told to end, or before it was started. */
  get isStopWanted(): boolean {
    return this.#isStopWanted;
  }

  /** True when it may be dead at any time: it was told to end, or to die at a point. */
  get isEnding(): boolean {
    return this.#isStopWanted || this.#isArmed;
  }

  /** Starts the server and waits for its banner. Returns milliseconds. Throws Violation server. */
  async start(): Promise<number> {
    const startedMs = performance.now();
    const outcome = await this.#startTo(this.#spawn());
    if (outcome !== "ready") throw this.#violation(`the server did not start: it ${outcome}`);
    return performance.now() - startedMs;
  }

  /**
   * Starts a server that may refuse to. Answers what it said last when it ended with exit code 1, or nothing
   * when it is ready.
   *
   * @throws Violation server for any other end
   */
  async startOrRefuse(): Promise<string | undefined> {
    const child = this.#spawn();
    this.#mayRefuse = true;
    const outcome = await this.#startTo(child);
    this.#mayRefuse = false;
    if (outcome === "ready") return undefined;
    if (outcome !== "ended with exit code 1")
      throw this.#violation(`the server did not start: it ${outcome}`);
    await this.#logEnd;
    return this.lastLine();
  }

  /** What the server said last. */
  lastLine(): string {
    return this.log().trimEnd().split("\n").at(-1) ?? "";
  }

  /** Everything the server has said, in all its starts. */
  log(): string {
    return readFileSync(this.#logPath, "utf8");
  }

  /** Process id of the running server. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Starts the server and kills it after `delayMs`, wherever it is then. True when it was ready before
   * that.
   */
  async startAndKill(delayMs: number): Promise<boolean> {
    const child = this.#spawn();
    let isReady = false;
    void bannerOf(child).then(() => {
      isReady = true;
    });
    await sleep(delayMs);
    await this.kill();
    return isReady;
  }

  /**
   * Starts the server so that it dies at a point of its start. Answers what it did: it came there, it was
   * ready
   * without, or it ended with exit code 1, which only a caller with a reason takes for good.
   *
   * @throws Violation server for any other end
   */
  async startAndKillAt(point: KillPoint): Promise<"killed" | "ready" | "refused"> {
    this.#order(point);
    const child = this.#spawn();
    this.#isArmed = true;
    this.#mayRefuse = true;
    const outcome = OUTCOMES[await this.#startTo(child)];
    this.#mayRefuse = false;
    if (outcome === undefined)
      throw this.#violation("the server was to be killed in its start and ended otherwise");
    await this.kill();
    await this.#logEnd;
    this.#order(undefined);
    return outcome;
  }

  /**
   * Tells the running server to die at a point; kills it when it has not come there in time. False then.
   *
   * @param signal  ends the waiting early
   */
  async killAt(point: KillPoint, limitMs: number, signal: AbortSignal): Promise<boolean> {
    const child = this.#child;
    if (child === undefined) return false;
    this.#isArmed = true;
    this.#order(point);
    const late = sleep(limitMs, "late", { signal }).catch(() => "late");
    const outcome = await Promise.race([exitOf(child), late]);
    await this.kill();
    this.#order(undefined);
    return outcome === "ended by SIGKILL";
  }

  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<string> {
    return this.#end("SIGKILL");
  }

  /** SIGTERM. Throws Violation server unless the server ends in time with exit code 0. */
  async stop(): Promise<void> {
    const outcome = await this.#end("SIGTERM");
    if (outcome !== "ended with exit code 0")
      throw this.#violation(`the server was told to stop and ${outcome}`);
  }

  /** Kills without waiting, for the end of this process. */
  killNow(): void {
    this.#isStopWanted = true;
    if (this.#child?.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
  }

  #spawn(): ChildProcess {
    this.#isStopWanted = false;
    this.#isArmed = false;
    const { entry, folder, settings, args: own = [], runner = [], hasKillPoints = false } = this.#place;
    const flags = hasKillPoints ? ["--require", DIE_AT_POINT] : [];
    const command = [process.execPath, ...flags, entry, "--with-default-root-credentials", ...own];
    const [program = "", ...args] = [...runner, ...command];
    const log = openSync(this.#logPath, "a");
    const child = spawn(program, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...ownEnvironment(),
        ...settings,
        MILLRACE_TCP_ADDRESS: this.address,
        MILLRACE_HTTP_ENABLED: "false",
        MILLRACE_WEBSOCKET_ENABLED: "false",
        MILLRACE_PATH: join(folder, "data"),
      },
    });
    this.#child = child;
    for (const said of [child.stdout, child.stderr]) {
      said?.on("data", (chunk: Buffer) => writeSync(log, chunk));
    }
    this.#logEnd = new Promise((resolve) => {
      child.once("close", () => {
        closeSync(log);
        resolve();
      });
    });
    child.once("exit", (code, signal) => {
      if (this.#isStopWanted || this.#mayRefuse || this.#child !== child) return;
      if (this.#isArmed && signal === "SIGKILL") {
        this.#isStopWanted = true;
        return;
      }
      this.onUnwantedExit(
        this.#violation(`the server ended by itself with ${signal ?? `exit code ${code}`}`),
      );
    });
    return child;
  }

  /** Written whole, as a server reads it at any time. */
  #order(point: KillPoint | undefined): void {
    const path = join(this.#place.folder, "kill-at");
    rmSync(path, { force: true });
    if (point === undefined) return;
    writeFileSync(`${path}.new`, JSON.stringify(point));
    renameSync(`${path}.new`, path);
  }

  #startTo(child: ChildProcess): Promise<string> {
    const late = sleep(START_MAX_MS, `was not ready after ${START_MAX_MS} ms`, { ref: false });
    return Promise.race([bannerOf(child), exitOf(child), late]);
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<string> {
    const child = this.#child;
    if (child === undefined) return "was never started";
    this.#isStopWanted = true;
    const exit = exitOf(child);
    child.kill(signal);
    const late = sleep(STOP_MAX_MS, `still ran ${STOP_MAX_MS} ms after ${signal}`, { ref: false });
    return Promise.race([exit, late]);
  }

  #violation(what: string): Violation {
    const lines = readFileSync(this.#logPath, "utf8").trimEnd().split("\n").slice(-LOG_LINES_SHOWN);
    return new Violation("server", `${what}\n  ${lines.join("\n  ")}`);
  }
}

/** The environment without settings that a person has for a server of their own. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(MILLRACE|IGGY)_/.test(name)));
}

function bannerOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (/^\s*tcp\s+127\.0\.0\.1:\d+/m.test(text)) resolve("ready");
    });
  });
}

function exitOf(child: ChildProcess): Promise<string> {
  if (child.exitCode !== null) return Promise.resolve(`ended with exit code ${child.exitCode}`);
  if (child.signalCode !== null) return Promise.resolve(`ended by ${child.signalCode}`);
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(signal === null ? `ended with exit code ${code}` : `ended by ${signal}`);
    });
  });
}
