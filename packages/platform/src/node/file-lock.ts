import { spawn } from "node:child_process";

/**
 * How the kernel answered; `unavailable` where there is no `flock` program or the file system knows no locks.
 */
export type FileLockOutcome = "locked" | "refused" | "unavailable";

/** Exit code of `flock` when somebody else holds the lock. */
const REFUSED = 1;

/**
 * Asks for the kernel's lock on an open file without waiting. It ends when the last descriptor of this
 * opening is closed, so also with the process, and is seen from other containers that share the file. Node
 * has no such call; the `flock` program sets it on the descriptor it inherits, and it stays with ours.
 */
export function tryFileLock(fd: number, mode: "exclusive" | "shared"): Promise<FileLockOutcome> {
  const option = mode === "exclusive" ? "-x" : "-s";
  return new Promise((resolve) => {
    const program = spawn("flock", ["-n", option, "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
    program.on("error", () => resolve("unavailable"));
    program.on("exit", (code) => {
      if (code === 0) resolve("locked");
      else resolve(code === REFUSED ? "refused" : "unavailable");
    });
  });
}
