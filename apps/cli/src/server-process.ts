import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CodedError, ErrorCode } from "@millrace/errors";
import { ExitCode } from "./exit-codes.ts";
import type { ServerChild, ServerEnd, ServerStart } from "./world.ts";

const SERVER_PACKAGE = "millrace-server";
/** What a shell reports for a process that a signal ended: 128 and the signal's number. */
const KILLED_BY_SIGNAL = 128;
const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Runs `millrace-server` with our standard streams and answers its exit code. SIGINT and SIGTERM are handed
 * on, so that the server stops in order before this command ends.
 * @throws CodedError InvalidConfiguration when no server is installed beside this command
 */
export async function runServer(serverArguments: readonly string[]): Promise<ExitCode> {
  const child = spawn(process.execPath, [serverHere(), ...serverArguments], { stdio: "inherit" });
  const release = handSignalsOn(child);
  try {
    return (await exitOf(child)) as ExitCode;
  } finally {
    release();
  }
}

/** Characters of a server's stderr that are kept, for the case that it ends. */
const LAST_WORDS_MAX = 4096;

/** What a server prints once its listeners are open and the banner is complete. */
const SERVES = /^ {2}data /m;

/**
 * Starts `millrace-server` beside this process. It has a process group of its own: Ctrl-C on a terminal does
 * not reach it, whoever started it ends it by `signal`.
 * @throws CodedError InvalidConfiguration when no server is installed beside this command
 */
export function startServer({ arguments: given, environment }: ServerStart): ServerChild {
  const child = spawn(process.execPath, [serverHere(), ...given], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    windowsHide: true,
  });
  let words = "";
  child.stderr.on("data", (bytes: Buffer) => {
    words = (words + bytes.toString()).slice(-LAST_WORDS_MAX);
  });
  const ended = new Promise<ServerEnd>((resolve) => {
    child.once("error", () => resolve(ExitCode.failed));
    child.once("close", (code, signal) => resolve(code ?? signal ?? ExitCode.failed));
  });
  return {
    pid: child.pid ?? 0,
    ready: Promise.race([servesOf(child), ended.then(() => false)]),
    ended,
    lastWords: () => words.trim(),
    signal: (signal) => {
      child.kill(signal);
    },
  };
}

function servesOf({ stdout }: ChildProcess): Promise<true> {
  return new Promise((resolve) => {
    let printed = "";
    stdout?.on("data", (bytes: Buffer) => {
      printed = (printed + bytes.toString()).slice(-LAST_WORDS_MAX);
      if (SERVES.test(printed)) resolve(true);
    });
  });
}

function serverHere(): string {
  const script = findServer(fileURLToPath(import.meta.url));
  if (script !== undefined) return script;
  throw new CodedError(
    ErrorCode.InvalidConfiguration,
    `There is no ${SERVER_PACKAGE} beside this command; add it with: npm install ${SERVER_PACKAGE}`,
  );
}

/**
 * The script of the server as seen from `file`: the installed package, or the workspace's own build.
 * Undefined when there is neither.
 */
export function findServer(file: string): string | undefined {
  return installedServer(file) ?? workspaceServer(dirname(file));
}

function installedServer(file: string): string | undefined {
  try {
    const manifest = createRequire(file).resolve(`${SERVER_PACKAGE}/package.json`);
    return scriptOf(manifest);
  } catch {
    return undefined;
  }
}

function workspaceServer(folder: string): string | undefined {
  for (let parent = folder; dirname(parent) !== parent; parent = dirname(parent)) {
    const manifest = join(parent, "apps", "server", "package.json");
    if (existsSync(manifest)) return scriptOf(manifest);
  }
  return undefined;
}

function scriptOf(manifest: string): string | undefined {
  const bin: unknown = JSON.parse(readFileSync(manifest, "utf8")).bin;
  const path = typeof bin === "string" ? bin : (bin as Record<string, string> | undefined)?.[SERVER_PACKAGE];
  const script = path === undefined ? undefined : join(dirname(manifest), path);
  return script !== undefined && existsSync(script) ? script : undefined;
}

/** On a terminal Ctrl-C reaches the server by itself, and a second one would cut its orderly stop short. */
function handSignalsOn(child: ChildProcess): () => void {
  const onSignal = (signal: NodeJS.Signals) => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return () => {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  };
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signalExit(signal)));
  });
}

function signalExit(signal: NodeJS.Signals | null): number {
  const number = SIGNAL_NUMBERS[signal as keyof typeof SIGNAL_NUMBERS];
  return number === undefined ? ExitCode.failed : KILLED_BY_SIGNAL + number;
}
