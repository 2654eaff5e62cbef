import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Room } from "./room.ts";

const MIB = 1_048_576;
/** What forty rounds write, and room for the file that takes the rest. */
const DISK_LENGTH = 512 * MIB;
/** What the file system may need for itself to hold one large file. */
const OWN_NEEDS = MIB;
const PIECE_LENGTH = 4096;

/**
 * A file system of its own in a file (ext4, loop mount) below `folder`, on `folder/data`. Linux, root only.
 */
export class MountedRoom implements Room {
  readonly name = "a small file system";
  readonly runner = [];
  readonly littleMax = 6 * MIB;
  readonly #data: string;
  readonly #image: string;

  private constructor(folder: string) {
    this.#data = join(folder, "data");
    this.#image = join(folder, "disk.img");
  }

  /** Makes and mounts it; nothing where this process may not. */
  static make(folder: string): MountedRoom | undefined {
    const room = new MountedRoom(folder);
    mkdirSync(room.#data);
    writeFileSync(room.#image, "");
    truncateSync(room.#image, DISK_LENGTH);
    const isMade =
      spawnSync("mkfs.ext4", ["-q", "-F", "-m", "0", room.#image]).status === 0 &&
      spawnSync("mount", ["-o", "loop", room.#image, room.#data]).status === 0;
    if (isMade) return room;
    rmSync(room.#image);
    return undefined;
  }

  squeeze(length: number): void {
    this.release();
    const taken = this.#free() - length - OWN_NEEDS;
    if (taken > 0) execFileSync("fallocate", ["--length", String(taken), this.#ballast]);
    // The file system has needs of its own, so the rest is taken piece by piece.
    const ballast = openSync(this.#ballast, "a");
    try {
      while (this.#free() > length) writeSync(ballast, Buffer.alloc(PIECE_LENGTH));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(ballast);
    }
  }

  release(): void {
    rmSync(this.#ballast, { force: true });
  }

  remove(): void {
    execFileSync("umount", [this.#data]);
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(this.#data);
    return bavail * bsize;
  }

  /** A name with a dot says nothing about whose a data directory is. */
  get #ballast(): string {
    return join(this.#data, ".ballast");
  }
}
