import { homedir } from "node:os";
import { join } from "node:path";
import { isCancel, password } from "@clack/prompts";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runServer } from "./server-process.ts";
import type { World } from "./world.ts";

/** The world of a real process: its streams, its environment, its signals, the network. */
export function openProcessWorld(): World {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    home: process.env["MILLRACE_HOME"] || process.env["IGGY_HOME"] || join(homedir(), ".millrace"),
    connect,
    openPinger,
    runServer,
    askSecret,
    onInterrupt: (callback) => {
      process.once("SIGINT", callback);
      return () => {
        process.off("SIGINT", callback);
      };
    },
    elapsedMs: () => performance.now(),
  };
}

async function askSecret(question: string): Promise<string | undefined> {
  const typed = await password({ message: question, output: process.stderr });
  return isCancel(typed) ? undefined : typed;
}
