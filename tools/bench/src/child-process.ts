import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A server under measurement: a limit or Millrace itself. */
export interface Target {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const pinned = existsSync("/usr/bin/taskset");

/** Where a server runs when nobody says otherwise: not on the client's core. */
const FIRST_CORE = "0";
/** Every core, for measurements in which several servers share the machine. */
export const ALL_CORES = `0-${cpus().length - 1}`;

/** Runs Node as a server under measurement. */
export function spawnServerNode(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cores = FIRST_CORE,
): ChildProcess {
  return spawnServer(process.execPath, args, env, cores);
}

/** Runs a program on some cores where `taskset` is there: the first, so that server and client share none. */
export function spawnServer(
  server: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cores = FIRST_CORE,
): ChildProcess {
  const command = pinned ? ["taskset", "-c", cores, server] : [server];
  const [program = server, ...before] = command;
  return spawn(program, [...before, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
}

/** Puts this process, the client, on the second core; settles when it is there. */
export function pinClient(): Promise<void> {
  if (!pinned) return Promise.resolve();
  const taskset = spawn("taskset", ["-a", "-p", "-c", "1", String(process.pid)], { stdio: "ignore" });
  return new Promise((resolve) => taskset.once("exit", () => resolve()));
}

/** Waits until the child's output matches, and returns the match. Ends the run when it exits first. */
export function outputOf(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready:\n${text}`)));
  });
}

/** Ends a child in order and waits for its exit. */
export function stopChild(child: ChildProcess): Promise<void> {
  return endChild(child, "SIGTERM");
}

/** Ends a child at once, as a crash would, and waits for its exit. */
export function killChild(child: ChildProcess): Promise<void> {
  return endChild(child, "SIGKILL");
}

function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

/** Starts one of the limits of `limit-server.ts`. */
export function startLimit(
  mode: "sink" | "source" | "echo",
  requestLength: number,
  replyLength: number,
): Promise<Target> {
  return startScript("limit-server.ts", {
    LIMIT_MODE: mode,
    LIMIT_REQUEST_LENGTH: String(requestLength),
    LIMIT_REPLY_LENGTH: String(replyLength),
  });
}

/** Starts a script of this folder that says `listening PORT` once it is ready. */
export async function startScript(name: string, env: NodeJS.ProcessEnv): Promise<Target> {
  const tsx = createRequire(new URL("../../../package.json", import.meta.url)).resolve("tsx");
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawnServerNode([`--import=${pathToFileURL(tsx).href}`, file], env);
  const match = await outputOf(child, /listening (\d+)/);
  return { pid: child.pid ?? 0, port: Number(match[1]), stop: () => stopChild(child) };
}
