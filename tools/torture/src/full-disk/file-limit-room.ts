import { execFileSync, spawnSync } from "node:child_process";
import type { Room } from "./room.ts";

const KIB = 1024;

/**
 * A limit on the length of each file (`RLIMIT_FSIZE`, set by `prlimit`), which needs no rights. Linux only.
 */
export class FileLimitRoom implements Room {
  readonly name = "a limit on the length of files";
  readonly littleMax = 900 * KIB;
  #limit = "unlimited";

  /** Nothing where `prlimit` is missing. */
  static make(): FileLimitRoom | undefined {
    return spawnSync("prlimit", ["--version"]).status === 0 ? new FileLimitRoom() : undefined;
  }

  get runner(): readonly string[] {
    return ["prlimit", `--fsize=${this.#limit}:unlimited`];
  }

  squeeze(length: number, pid?: number): void {
    this.#set(String(length), pid);
  }

  release(pid?: number): void {
    this.#set("unlimited", pid);
  }

  remove(): void {}

  #set(limit: string, pid: number | undefined): void {
    this.#limit = limit;
    if (pid !== undefined) execFileSync("prlimit", ["--pid", String(pid), `--fsize=${limit}:unlimited`]);
  }
}
