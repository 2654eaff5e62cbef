import { homedir } from "node:os";
import { join } from "node:path";
import { isCancel, password } from "@clack/prompts";
import type { ClientVariable } from "@millrace/protocol";
import { connect, observe } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runServer, startServer } from "./server-process.ts";
import type { World } from "./world.ts";

const HOME = "MILLRACE_HOME" satisfies ClientVariable;

/** Ctrl-C, what asks a service to stop, and a terminal that was closed. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The world of a real process: its streams, its environment, its signals, the network. */
export function openProcessWorld(): World {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    home: process.env[HOME] || process.env["IGGY_HOME"] || join(homedir(), ".millrace"),
    connect,
    observe,
    openPinger,
    runServer,
    startServer,
    askSecret,
    onInterrupt: (callback) => {
      process.once("SIGINT", callback);
      return () => {
        process.off("SIGINT", callback);
      };
    },
    onStop: (callback) => {
      for (const signal of STOP_SIGNALS) process.on(signal, callback);
      return () => {
        for (const signal of STOP_SIGNALS) process.off(signal, callback);
      };
    },
    elapsedMs: () => performance.now(),
  };
}

async function askSecret(question: string): Promise<string | undefined> {
  const typed = await password({ message: question, output: process.stderr });
  return isCancel(typed) ? undefined : typed;
}
