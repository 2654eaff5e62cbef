import fs from "node:fs";
import { promisify } from "node:util";
import type { CodedError } from "@millrace/errors";
import { diskError } from "../disk-error.ts";
import { type FileCalls, fromSystemError, hasErrno } from "./file-calls.ts";

const { O_CREAT, O_EXCL } = fs.constants;
/**
 * Files closed at once when the system has no handle left: as many calls as its thread pool has by default.
 */
const RELIEF_COUNT = 4;

const openCall = promisify(fs.open);
const closeCall = promisify(fs.close);

/** How a file was opened, to open it again. */
export interface OpenedBy {
  /** Relative to the disk, for messages. */
  readonly path: string;
  readonly absolutePath: string;
  readonly flags: number;
  readonly mode: number;
}

/**
 * Bounds the file handles that one disk keeps: beyond it files that nobody has used for a while are closed,
 * and opened again by their next use. What was written to them is synced before, so that no failure of the
 * system to write it is missed. Files with a call under way are never closed: whoever needs a handle while
 * all are in use waits for one.
 */
export class OpenFiles {
  readonly #max: number;
  readonly #calls: FileCalls;
  /** Looked at from the first on for what may be closed; what was looked at goes to the end. */
  readonly #slots = new Set<FileSlot>();
  readonly #waiting: (() => void)[] = [];

  /** @param max  handles; at least 1 */
  constructor(max: number, calls: FileCalls) {
    this.#max = max;
    this.#calls = calls;
  }

  /** Handles that are open. */
  get count(): number {
    return this.#slots.size;
  }

  /** A file that its first use opens. */
  slotFor(by: OpenedBy): FileSlot {
    return new FileSlot(this, by, this.#calls);
  }

  /**
   * Opens the handle of a slot once there is room for it.
   * @throws CodedError what the system answers; `EMFILE` and `ENFILE` only when closing idle files did not
   *         help
   */
  async handleFor(slot: FileSlot, { absolutePath, path, mode }: OpenedBy, flags: number): Promise<number> {
    while (this.#slots.size >= this.#max) await this.#makeRoom();
    this.#slots.add(slot);
    try {
      return await this.relieved(() => openCall(absolutePath, flags, mode));
    } catch (error) {
      this.remove(slot);
      throw fromSystemError("open", path, error);
    }
  }

  /** Opens something; when the system has no handle left, once more after idle files were closed. */
  async relieved(open: () => Promise<number>): Promise<number> {
    return open().catch(async (error: unknown) => {
      if (!hasErrno(error, "EMFILE", "ENFILE")) throw error;
      await Promise.all(this.#parkIdle(RELIEF_COUNT));
      return open();
    });
  }

  /** Closes a file or waits until one is closed or idle. */
  async #makeRoom(): Promise<void> {
    const [parking] = this.#parkIdle(1);
    await (parking ?? new Promise<void>((resolve) => this.#waiting.push(resolve)));
  }

  /** A handle is closed or nobody uses it: somebody may have waited for that. */
  noteRoom(): void {
    if (this.#waiting.length > 0) this.#waiting.shift()?.();
  }

  /** The handle of a slot is closed. */
  remove(slot: FileSlot): void {
    if (this.#slots.delete(slot)) this.noteRoom();
  }

  /** Begins to close files that were not used since they were looked at last. */
  #parkIdle(count: number): Promise<void>[] {
    const parking: Promise<void>[] = [];
    for (let left = 2 * this.#slots.size; left > 0 && parking.length < count; left -= 1) {
      const [slot] = this.#slots;
      if (slot === undefined) break;
      this.#slots.delete(slot);
      this.#slots.add(slot);
      if (slot.isIdle) parking.push(slot.park());
      else slot.wasUsed = false;
    }
    return parking;
  }
}

/** The handle of one file, which may be closed while nobody uses it. */
export class FileSlot {
  /** A call ended since it was looked at last. */
  wasUsed = true;
  readonly #files: OpenFiles;
  readonly #by: OpenedBy;
  readonly #calls: FileCalls;
  #fd = -1;
  #usersCount = 0;
  #parking: Promise<void> | undefined;
  /** It cannot be opened again, so it is not closed. */
  #isPinned = false;
  #isClosing = false;
  /** Bytes were written since the last datasync began. */
  #isDirty = false;
  /** Which file it was when its handle was closed. */
  #identity: string | undefined;
  #failure: CodedError | undefined;
  #opening: Promise<void> | undefined;

  constructor(files: OpenFiles, by: OpenedBy, calls: FileCalls) {
    this.#files = files;
    this.#by = by;
    this.#calls = calls;
  }

  /** Nobody uses it or has used it for a while, and it can be opened again. */
  get isIdle(): boolean {
    const isInUse = this.wasUsed || this.#usersCount > 0 || this.#parking !== undefined;
    return !isInUse && !this.#isPinned && !this.#isClosing && this.#fd >= 0;
  }

  /**
   * Why what was written may not be on the disk, whatever the next datasync says: nothing more is written.
   */
  get failure(): CodedError | undefined {
    return this.#failure;
  }

  /** The handle for one call, which ends with `end`; -1 when it must be opened first, see `use`. */
  begin(): number {
    if (this.#fd < 0) return -1;
    this.#usersCount += 1;
    return this.#fd;
  }

  /** `begin`, once the handle is open. @throws CodedError what the system answers */
  async use(): Promise<number> {
    let fd = this.begin();
    while (fd < 0) {
      await this.#openOnce();
      fd = this.begin();
    }
    return fd;
  }

  /** A call is over. @param wrote  it changed bytes, or may have */
  end(wrote = false): void {
    this.#usersCount -= 1;
    this.wasUsed = true;
    if (wrote) this.#isDirty = true;
    this.#files.noteRoom();
  }

  /** A datasync of everything written so far begins. */
  noteSync(): void {
    this.#isDirty = false;
  }

  #openOnce(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Closes for good. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#opening?.catch(() => undefined);
    await this.#parking;
    await this.#closeHandle();
  }

  /**
   * Closes the handle unless somebody begins to use it; what was written is synced before. One whose name
   * does not lead back to it stays open. One whose sync fails is closed too: nothing more is written to it.
   */
  park(): Promise<void> {
    this.#parking ??= this.#park().finally(() => {
      this.#parking = undefined;
      this.#files.noteRoom();
    });
    return this.#parking;
  }

  async #park(): Promise<void> {
    if (this.#isDirty) await this.#sync();
    if (this.#usersCount > 0 || this.#isDirty) return;
    this.#identity = identityBehind(this.#fd, this.#by);
    this.#isPinned = this.#identity === undefined;
    if (!this.#isPinned) await this.#closeHandle().catch((error: unknown) => this.#distrust("close", error));
  }

  /** Nobody gets the handle from here on. */
  async #closeHandle(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    try {
      if (fd >= 0) await closeCall(fd);
    } finally {
      this.#files.remove(this);
    }
  }

  #distrust(operation: string, error: unknown): void {
    this.#failure ??= fromSystemError(operation, this.#by.path, error);
  }

  #sync(): Promise<void> {
    this.#isDirty = false;
    return new Promise((resolve) =>
      this.#calls.fdatasync(this.#fd, (error) => {
        if (error !== null) this.#distrust("datasync", error);
        resolve();
      }),
    );
  }

  async #open(): Promise<void> {
    await this.#parking;
    const isAgain = this.#identity !== undefined;
    const { flags, path } = this.#by;
    const fd = await this.#files.handleFor(this, this.#by, isAgain ? flags & ~(O_CREAT | O_EXCL) : flags);
    this.#fd = fd;
    this.wasUsed = true;
    if (!isAgain || identityOf(fs.fstatSync(fd)) === this.#identity) return;
    await this.#closeHandle();
    throw diskError({ operation: "open", path, errno: "ESTALE" });
  }
}

/** Which file a handle is of, when the path still leads to it for certain. */
function identityBehind(fd: number, { absolutePath }: OpenedBy): string | undefined {
  try {
    const identity = identityOf(fs.fstatSync(fd));
    return identityOf(fs.lstatSync(absolutePath)) === identity ? identity : undefined;
  } catch {
    return undefined;
  }
}

function identityOf({ dev, ino }: fs.Stats): string {
  return `${dev} ${ino}`;
}
