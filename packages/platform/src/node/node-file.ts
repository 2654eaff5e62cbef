import fs from "node:fs";
import { promisify } from "node:util";
import type { CodedError } from "@millrace/errors";
import type { DiskFile } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { type FileCalls, fromSystemError } from "./file-calls.ts";
import type { FileSlot } from "./open-files.ts";
import { reserveSpace } from "./reserve-space.ts";

/** Parts one `writev` takes on every system we run on (IOV_MAX of POSIX systems). */
const PARTS_PER_CALL = 1024;

/** Longest read asked of one call: below the 2 GiB limit of the system call. */
const READ_LENGTH_MAX = 1 << 30;

const truncate = promisify(fs.ftruncate);

type WriteDone = (error?: CodedError) => void;

/**
 * An open file of the operating system, by asynchronous calls of the thread pool. Its handle may be closed
 * between two calls, see `OpenFiles`.
 */
export class NodeFile implements DiskFile {
  readonly path: string;
  readonly #slot: FileSlot;
  readonly #absolutePath: string;
  readonly #calls: FileCalls;
  #closed = false;

  constructor(options: { slot: FileSlot; path: string; absolutePath: string; calls: FileCalls }) {
    this.#slot = options.slot;
    this.path = options.path;
    this.#absolutePath = options.absolutePath;
    this.#calls = options.calls;
  }

  write(parts: readonly Uint8Array[], position: number, done: WriteDone): void {
    const filled = parts.every((part) => part.length > 0) ? parts : parts.filter((part) => part.length > 0);
    const refusal = this.#closedError("write") ?? this.#slot.failure;
    if (filled.length === 0 || refusal !== undefined) queueMicrotask(() => done(refusal));
    else this.#use(done, (fd) => this.#writeOn(fd, filled, position, done));
  }

  read(
    target: Uint8Array,
    position: number,
    done: (error: CodedError | undefined, length: number) => void,
  ): void {
    if (target.length === 0 || this.#closed) queueMicrotask(() => done(this.#closedError("read"), 0));
    else {
      const refuse = (error?: CodedError) => done(error, 0);
      this.#use(refuse, (fd) => this.#readOn(fd, { target, position, done }, 0));
    }
  }

  datasync(done: (error?: CodedError) => void): void {
    const refusal = this.#closedError("datasync") ?? this.#slot.failure;
    if (refusal !== undefined) {
      queueMicrotask(() => done(refusal));
      return;
    }
    this.#use(done, (fd) => {
      this.#slot.noteSync();
      this.#calls.fdatasync(fd, (error) => {
        this.#slot.end();
        done(error === null ? undefined : fromSystemError("datasync", this.path, error));
      });
    });
  }

  preallocate(length: number): Promise<void> {
    return reserveSpace(this.#absolutePath, length);
  }

  async truncate(length: number): Promise<void> {
    const { failure } = this.#slot;
    if (failure !== undefined) throw failure;
    await this.#run("truncate", (fd) => truncate(fd, length));
  }

  async length(): Promise<number> {
    // At once: what the system knows of an open file is in memory, and a turn of the thread pool costs more.
    return (await this.#run("stat", async (fd) => fs.fstatSync(fd))).size;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#slot.close();
    } catch (error) {
      throw fromSystemError("close", this.path, error);
    }
  }

  /** Calls back with the handle, at once when it is open; whoever gets it calls `end` of the slot. */
  #use(refuse: WriteDone, call: (fd: number) => void): void {
    const fd = this.#slot.begin();
    if (fd >= 0) call(fd);
    else this.#slot.use().then(call, refuse);
  }

  #writeOn(fd: number, parts: readonly Uint8Array[], position: number, done: WriteDone): void {
    const round = parts.length > PARTS_PER_CALL ? parts.slice(0, PARTS_PER_CALL) : parts;
    this.#calls.writev(fd, round, position, (error, written) => {
      const failure =
        error === null
          ? written === 0 && diskError({ operation: "write", path: this.path, errno: "EIO" })
          : fromSystemError("write", this.path, error);
      const rest = failure ? [] : partsAfter(parts, written);
      if (rest.length > 0) return this.#writeOn(fd, rest, position + written, done);
      this.#slot.end(true);
      done(failure || undefined);
    });
  }

  #readOn(
    fd: number,
    call: {
      target: Uint8Array;
      position: number;
      done: (error: CodedError | undefined, length: number) => void;
    },
    filled: number,
  ): void {
    const { target, position, done } = call;
    const wanted = Math.min(target.length - filled, READ_LENGTH_MAX);
    this.#calls.read(fd, target, filled, wanted, position + filled, (error, length) => {
      const total = error === null ? filled + length : filled;
      if (error === null && length > 0 && total < target.length) return this.#readOn(fd, call, total);
      this.#slot.end();
      done(error === null ? undefined : fromSystemError("read", this.path, error), total);
    });
  }

  #closedError(operation: string): CodedError | undefined {
    return this.#closed ? diskError({ operation, path: this.path, errno: "EBADF" }) : undefined;
  }

  async #run<T>(operation: string, call: (fd: number) => Promise<T>): Promise<T> {
    const closed = this.#closedError(operation);
    if (closed !== undefined) throw closed;
    const fd = await this.#slot.use();
    try {
      return await call(fd);
    } catch (error) {
      throw fromSystemError(operation, this.path, error);
    } finally {
      this.#slot.end(operation === "truncate");
    }
  }
}

/** The parts that remain when the first `written` bytes are done. */
function partsAfter(parts: readonly Uint8Array[], written: number): readonly Uint8Array[] {
  let left = written;
  for (const [index, part] of parts.entries()) {
    if (left < part.length) {
      return left === 0 ? parts.slice(index) : [part.subarray(left), ...parts.slice(index + 1)];
    }
    left -= part.length;
  }
  return [];
}
