import { CodedError, ErrorCode } from "@millrace/errors";
import type { DirectoryEntry, Disk, DiskFile, DiskLock, DiskSpace, EntryKind, OpenMode } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { diskPathNames } from "../disk-path.ts";
import { readWholeFile, WholeWrites } from "../whole-file.ts";
import type { DiskFaults } from "./disk-faults.ts";
import { type CrashKeep, SimContent } from "./sim-content.ts";
import { SimDevice, type SimDiskOptions } from "./sim-device.ts";
import { SimFile } from "./sim-file.ts";
import { SimNames } from "./sim-names.ts";
import { SimRandom } from "./sim-random.ts";

/** What `space` tells when no limit was set. */
const ROOMY_LENGTH = 2 ** 40;

/** Process id that a simulated lock names. */
const SIM_PROCESS_ID = 1;

/**
 * A disk in memory that fails as disks do, from a seed or by a script.
 *
 * One object is one process's view. `kill()` ends the process: the next object has everything that was
 * written and a random part of what was on its way. `crash()` is power loss: of bytes and names that were not
 * synced, chance (or `keep`) decides. After either, the old object and its open files answer `IoError` with
 * errno `ESHUTDOWN`.
 */
export class SimDisk implements Disk {
  readonly root = "sim:";
  readonly #options: SimDiskOptions;
  readonly #device: SimDevice;
  readonly #random: SimRandom;
  readonly #names: SimNames;
  readonly #locks = new Set<string>();
  readonly #machineRun: number;
  readonly #wholeWrites = new WholeWrites(this);

  constructor(
    options: SimDiskOptions = {},
    names = new SimNames(),
    random = new SimRandom(options.seed ?? 1),
  ) {
    this.#options = options;
    this.#device = new SimDevice(options);
    this.#names = names;
    this.#random = random;
    this.#machineRun = options.machineRun ?? 0;
  }

  /** Names the run of the machine: another one after each `crash`. */
  get bootId(): string {
    return `run ${this.#machineRun}`;
  }

  /** The script of faults from now on; `undefined` for a disk that works. */
  setFaults(faults: DiskFaults | undefined): void {
    this.#device.faults = faults;
  }

  /** Room for the content of all files together from now on; a write that does not fit stores what does. */
  setSpace(spaceLength: number): void {
    this.#device.spaceLength = spaceLength;
  }

  /**
   * Flips one bit of a file's content where it lies, as rot does; `bit` counts from the start of the file.
   */
  flipBit(path: string, bit: number): void {
    this.#fileNode(path, "write").content.flipBit(bit);
  }

  /** Ends the process at once; returns the disk as the next process finds it. */
  kill(): SimDisk {
    this.#endProcess();
    return new SimDisk(this.#nextOptions(), this.#names.afterKill(), this.#random);
  }

  /** Fails the power; returns the disk as the next start finds it. */
  crash(how: { readonly keep?: CrashKeep } = {}): SimDisk {
    const keep = how.keep ?? "random";
    this.#endProcess();
    const keeps = () => keep === "all" || (keep === "random" && this.#random.chance(0.5));
    const options = { ...this.#nextOptions(), machineRun: this.#machineRun + 1 };
    return new SimDisk(options, this.#names.afterCrash(keeps, this.#random, keep), this.#random);
  }

  openFile(path: string, mode: OpenMode): Promise<DiskFile> {
    return this.#perform("open", path, () => {
      const node = this.#names.find(path);
      if (node === undefined && (mode === "create" || mode === "create-or-open")) {
        this.#names.set(path, { kind: "file", content: new SimContent() });
      } else if (mode === "create") {
        throw diskError({ operation: "open", path, errno: "EEXIST" });
      }
      const { content } = this.#fileNode(path, "open");
      const roomFor = (file: SimContent, length: number) => this.#roomFor(file, length);
      return new SimFile({ path, device: this.#device, content, writable: mode !== "read", roomFor });
    });
  }

  readDirectory(path: string): Promise<readonly DirectoryEntry[]> {
    return this.#perform("open", path, () => {
      if (this.#names.find(path)?.kind === "file")
        throw diskError({ operation: "list", path, errno: "ENOTDIR" });
      const prefix = path === "" ? "" : `${path}/`;
      return this.#names
        .list(path)
        .map((name) => ({ name, kind: this.#names.find(prefix + name)?.kind ?? "other" }));
    });
  }

  makeDirectory(path: string): Promise<void> {
    return this.#perform("open", path, () => {
      let made = "";
      for (const name of diskPathNames(path)) {
        made = made === "" ? name : `${made}/${name}`;
        const node = this.#names.find(made);
        if (node?.kind === "file") throw diskError({ operation: "make directory", path, errno: "EEXIST" });
        if (node === undefined) this.#names.set(made, { kind: "directory" });
      }
    });
  }

  syncDirectory(path: string): Promise<void> {
    const end = this.#names.beginSync(path);
    return this.#perform("sync-directory", path, () => {
      if (this.#names.find(path)?.kind !== "directory")
        throw diskError({ operation: "sync", path, errno: "ENOENT" });
      end();
    });
  }

  rename(from: string, to: string): Promise<void> {
    diskPathNames(to);
    return this.#perform("rename", from, () => this.#names.rename(from, to));
  }

  removeFile(path: string): Promise<void> {
    return this.#perform("remove", path, () => {
      const node = this.#names.find(path);
      if (node?.kind === "directory") throw diskError({ operation: "remove", path, errno: "EISDIR" });
      if (node !== undefined) this.#names.remove(path);
    });
  }

  removeDirectory(path: string): Promise<void> {
    return this.#perform("remove", path, () => {
      if (path === "") throw diskError({ operation: "remove", path: this.root, errno: "EPERM" });
      const node = this.#names.find(path);
      if (node?.kind === "file") throw diskError({ operation: "remove", path, errno: "ENOTDIR" });
      if (node !== undefined) this.#names.remove(path);
    });
  }

  stat(path: string): Promise<{ readonly kind: EntryKind; readonly length: number } | undefined> {
    return this.#perform("open", path, () => {
      const node = this.#names.find(path);
      if (node === undefined) return undefined;
      return { kind: node.kind, length: node.kind === "file" ? node.content.length : 0 };
    });
  }

  readWhole(path: string, lengthMax: number): Promise<Uint8Array | undefined> {
    return readWholeFile(this, path, lengthMax);
  }

  writeWhole(path: string, bytes: Uint8Array): Promise<void> {
    return this.#wholeWrites.write(path, bytes);
  }

  space(): Promise<DiskSpace> {
    return this.#perform("open", "", () => {
      const totalLength = Math.min(this.#device.spaceLength, ROOMY_LENGTH);
      return { freeLength: Math.max(0, totalLength - this.#usedLength()), totalLength };
    });
  }

  lock(path: string): Promise<DiskLock> {
    return this.#perform("open", path, () => {
      if (this.#locks.has(path)) throw inUse(path);
      if (this.#names.find(path) === undefined)
        this.#names.set(path, { kind: "file", content: new SimContent() });
      this.#locks.add(path);
      return { release: () => this.#unlock(path) };
    });
  }

  #unlock(path: string): Promise<void> {
    return this.#perform("remove", path, () => {
      if (this.#locks.delete(path)) this.#names.remove(path);
    });
  }

  async #perform<T>(
    kind: "open" | "sync-directory" | "rename" | "remove",
    path: string,
    action: () => T,
  ): Promise<T> {
    diskPathNames(path);
    return this.#device.perform({ kind, path }, action);
  }

  #fileNode(path: string, operation: string) {
    const node = this.#names.find(path);
    if (node?.kind === "file") return node;
    throw diskError({ operation, path, errno: node === undefined ? "ENOENT" : "EISDIR" });
  }

  #usedLength(): number {
    return this.#names.files().reduce((sum, content) => sum + content.length, 0);
  }

  #roomFor(content: SimContent, length: number): number {
    if (this.#device.spaceLength === Number.POSITIVE_INFINITY || length <= content.length) return length;
    const free = Math.max(0, this.#device.spaceLength - this.#usedLength());
    return Math.min(length, content.length + free);
  }

  /** Stores a random part of every write on its way, then refuses everything. */
  #endProcess(): void {
    for (const write of this.#device.inFlight) write.store(this.#random.below(write.length + 1));
    this.#device.inFlight.clear();
    this.#device.alive = false;
  }

  #nextOptions(): SimDiskOptions {
    const { faults, spaceLength } = this.#device;
    const { faults: _atFirst, ...options } = this.#options;
    return { ...options, spaceLength, ...(faults === undefined ? {} : { faults }) };
  }
}

function inUse(path: string): CodedError {
  const text = `The data directory is in use by process ${SIM_PROCESS_ID} (lock file ${path}).`;
  return new CodedError(ErrorCode.DataDirectoryInUse, text, { details: { pid: SIM_PROCESS_ID, path } });
}
