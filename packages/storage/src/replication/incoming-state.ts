import { CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, DiskFile } from "@millrace/platform";
import { makeDurableDirectory } from "../data-directory/durable-directory.ts";
import { encodeCommitMark } from "../op-record/commit-mark.ts";
import { deletePartitionFiles, openPartition } from "../partition/open-partition.ts";
import type { Partition } from "../partition/partition.ts";
import type { PartitionOptions } from "../partition/partition-options.ts";
import { datasync, writeAt } from "../segment/file-calls.ts";
import { parseSegmentFileName } from "../segment/segment-name.ts";
import { VERIFY_FROM_START, type VerifyCursor } from "../verification/verify-cursor.ts";
import type { StateDescription, StateFile } from "./describe-state.ts";

/** Bytes that are checked before others get their turn. */
const VERIFY_LENGTH = 4_194_304;

/**
 * The files of another replica's state of a partition, on their way into a folder beside the partition's own.
 *
 * `begin`, then each file's bytes in order, then `settle`; nothing of it is used before `installIncoming`.
 * When they stop coming, `keep` and another `begin` go on with what came. It need not be the same replica's:
 * whether it all fits together is what `settle` finds out.
 */
export class IncomingState {
  readonly #disk: Disk;
  readonly #path: string;
  #open: { readonly name: string; readonly file: DiskFile } | undefined;
  /** Bytes of each file that came, from its beginning. */
  #came = new Map<string, number>();
  #isKept = false;

  /** @param path  the folder the files come into */
  constructor(disk: Disk, path: string) {
    this.#disk = disk;
    this.#path = path;
  }

  /** A transfer broke off, and the next one has not begun. */
  get isKept(): boolean {
    return this.#isKept;
  }

  /**
   * Makes the folder, with an empty file for each that will come. Behind `keep` it holds what it held: a
   * segment's messages up to where they came, and op records that came whole, for other replicas write
   * marks between theirs.
   * @returns bytes that each of the files has already: those behind them are to come
   * @throws CodedError `PartitionDamaged` for files that cannot be a partition's; `DiskFull` when there is no room
   *         for them, before any of it is taken from others; what the disk answers
   */
  async begin(files: readonly StateFile[]): Promise<readonly number[]> {
    checkNames(files);
    const held = new Map(files.map((file) => [file.name, this.#isKept ? this.#heldOf(file) : 0]));
    const isAnyHeld = [...held.values()].some((length) => length > 0);
    if (!isAnyHeld) await this.discard();
    this.#isKept = false;
    await makeDurableDirectory(this.#disk, this.#path);
    for (const { name } of await this.#disk.readDirectory(this.#path)) {
      if ((held.get(name) ?? 0) === 0) await this.#disk.removeFile(`${this.#path}/${name}`);
    }
    this.#came = new Map([...held].filter(([, length]) => length > 0));
    await this.#checkRoom(files.reduce((sum, { name, length }) => sum + length - (held.get(name) ?? 0), 0));
    for (const { name } of files.filter((file) => !this.#came.has(file.name))) {
      const file = await this.#disk.openFile(`${this.#path}/${name}`, "create");
      await file.close();
    }
    return files.map(({ name }) => this.#came.get(name) ?? 0);
  }

  /** A state that does not fit would fill the disk first, under everything else that is written to it. */
  async #checkRoom(needed: number): Promise<void> {
    const { freeLength } = await this.#disk.space();
    if (needed <= freeLength) return;
    const text = `The disk has no room for ${this.#path}: ${needed} bytes are to come and ${freeLength} are free.`;
    throw new CodedError(ErrorCode.DiskFull, text, { details: { path: this.#path, needed, freeLength } });
  }

  #heldOf({ name, length }: StateFile): number {
    const came = this.#came.get(name) ?? 0;
    const isFitting = parseSegmentFileName(name)?.kind === "log" ? came <= length : came === length;
    return isFitting ? came : 0;
  }

  /** Writes some bytes of a file; those of one file follow each other. */
  async write(name: string, position: number, bytes: Uint8Array): Promise<void> {
    await writeAt(await this.#fileOf(name), bytes, position);
    this.#came.set(name, position + bytes.length);
  }

  /** What came stays where it is, for the next `begin`. */
  async keep(): Promise<void> {
    this.#isKept = true;
    await this.#open?.file.close().catch(() => undefined);
    this.#open = undefined;
  }

  /**
   * Opens what came as a partition, checks every record and batch, takes all of it as committed, says so
   * behind the last op, and makes it survive power loss.
   * @param options  as the partition is opened with, but for the path
   * @throws CodedError `PartitionDamaged` when it is not what was described; what the disk answers
   */
  async settle(options: PartitionOptions, described: StateDescription): Promise<void> {
    await this.#markCommitted(options.kernel, described);
    await this.#finishFile();
    const partition = await openPartition({ ...options, path: this.#path });
    try {
      await checkState(partition, described);
      // The sender's records may not say it, and what they say is committed may be gone.
      await partition.markCommit();
    } finally {
      await partition.close();
    }
    await this.#sync();
  }

  /** The files may not say it themselves, and those of the ops before may be gone with the giver's. */
  async #markCommitted(kernel: ChecksumKernel, described: StateDescription): Promise<void> {
    const last = described.files.findLast(({ name }) => parseSegmentFileName(name)?.kind === "ops");
    if (last === undefined) throw notAsDescribed("it has no op records");
    await this.write(last.name, last.length, encodeCommitMark(kernel, described, described.op));
  }

  /** Removes what came. */
  async discard(): Promise<void> {
    await this.#open?.file.close().catch(() => undefined);
    this.#open = undefined;
    this.#came.clear();
    this.#isKept = false;
    await deletePartitionFiles(this.#disk, this.#path);
  }

  async #fileOf(name: string): Promise<DiskFile> {
    if (this.#open?.name === name) return this.#open.file;
    await this.#finishFile();
    const file = await this.#disk.openFile(`${this.#path}/${name}`, "read-write");
    this.#open = { name, file };
    return file;
  }

  async #finishFile(): Promise<void> {
    await this.#open?.file.close();
    this.#open = undefined;
  }

  async #sync(): Promise<void> {
    for (const { name } of await this.#disk.readDirectory(this.#path)) {
      const file = await this.#disk.openFile(`${this.#path}/${name}`, "read-write");
      try {
        await datasync(file);
      } finally {
        await file.close();
      }
    }
    await this.#disk.syncDirectory(this.#path);
  }
}

/**
 * Puts a settled state in the place of a partition's files. The partition is closed. A kill in between is
 * finished by calling it again: whoever calls has noted that it is to be done.
 * @throws CodedError what the disk answers
 */
export async function installIncoming(
  disk: Disk,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  if ((await disk.stat(from)) === undefined) return;
  const parent = parentOf(to);
  await makeDurableDirectory(disk, parent);
  await deletePartitionFiles(disk, to);
  await disk.rename(from, to);
  await disk.syncDirectory(parent);
  await disk.syncDirectory(parentOf(from));
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function checkNames(files: readonly StateFile[]): void {
  const names = new Set<string>();
  for (const { name } of files) {
    const parsed = parseSegmentFileName(name);
    const isFitting = parsed !== undefined && parsed.kind !== "index" && !names.has(name);
    if (!isFitting) throw notAsDescribed(`it names ${JSON.stringify(name)}`);
    names.add(name);
  }
}

async function checkState(partition: Partition, { op, opChecksum }: StateDescription): Promise<void> {
  const fault = partition.fault ?? partition.offsetsFault;
  if (fault !== undefined) throw notAsDescribed(fault.message, fault);
  if (partition.lastOp !== op || partition.lastOpChecksum !== opChecksum) {
    throw notAsDescribed(`it ends with operation ${partition.lastOp}, not with ${op}`);
  }
  partition.commit(op);
  let from: VerifyCursor | undefined = VERIFY_FROM_START;
  while (from !== undefined) {
    const { damages, next } = await partition.verify({ from, lengthMax: VERIFY_LENGTH });
    const [damage] = damages;
    if (damage !== undefined) {
      throw notAsDescribed(`${damage.path} is damaged at position ${damage.position} (${damage.kind})`);
    }
    from = next;
  }
}

function notAsDescribed(what: string, cause?: CodedError): CodedError {
  const text = `The state that another replica sent is not used: ${what}.`;
  return new CodedError(ErrorCode.PartitionDamaged, text, cause === undefined ? {} : { cause });
}
