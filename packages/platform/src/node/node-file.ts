import fs from "node:fs";
import { promisify } from "node:util";
import type { CodedError } from "@millrace/errors";
import type { DiskFile } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import { type FileCalls, fromSystemError } from "./file-calls.ts";
import { reserveSpace } from "./reserve-space.ts";

/** Parts one `writev` takes on every system we run on (IOV_MAX of POSIX systems). */
const PARTS_PER_CALL = 1024;

/** Longest read asked of one call: below the 2 GiB limit of the system call. */
const READ_LENGTH_MAX = 1 << 30;

const truncate = promisify(fs.ftruncate);
const close = promisify(fs.close);

type WriteDone = (error?: CodedError) => void;

/** An open file of the operating system, by asynchronous calls of the thread pool. */
export class NodeFile implements DiskFile {
  readonly path: string;
  readonly #fd: number;
  readonly #absolutePath: string;
  readonly #calls: FileCalls;
  #closed = false;

  constructor(options: { fd: number; path: string; absolutePath: string; calls: FileCalls }) {
    this.#fd = options.fd;
    this.path = options.path;
    this.#absolutePath = options.absolutePath;
    this.#calls = options.calls;
  }

  write(parts: readonly Uint8Array[], position: number, done: WriteDone): void {
    const filled = parts.every((part) => part.length > 0) ? parts : parts.filter((part) => part.length > 0);
    if (filled.length === 0 || this.#closed) queueMicrotask(() => done(this.#closedError("write")));
    else this.#writeOn(filled, position, done);
  }

  read(
    target: Uint8Array,
    position: number,
    done: (error: CodedError | undefined, length: number) => void,
  ): void {
    if (target.length === 0 || this.#closed) queueMicrotask(() => done(this.#closedError("read"), 0));
    else this.#readOn({ target, position, done }, 0);
  }

  datasync(done: (error?: CodedError) => void): void {
    if (this.#closed) {
      queueMicrotask(() => done(this.#closedError("datasync")));
      return;
    }
    this.#calls.fdatasync(this.#fd, (error) =>
      done(error === null ? undefined : fromSystemError("datasync", this.path, error)),
    );
  }

  preallocate(length: number): Promise<void> {
    return reserveSpace(this.#absolutePath, length);
  }

  async truncate(length: number): Promise<void> {
    await this.#run("truncate", (fd) => truncate(fd, length));
  }

  async length(): Promise<number> {
    // At once: what the system knows of an open file is in memory, and a turn of the thread pool costs more.
    return (await this.#run("stat", async (fd) => fs.fstatSync(fd))).size;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    const closing = this.#run("close", close);
    this.#closed = true;
    await closing;
  }

  #writeOn(parts: readonly Uint8Array[], position: number, done: WriteDone): void {
    const round = parts.length > PARTS_PER_CALL ? parts.slice(0, PARTS_PER_CALL) : parts;
    this.#calls.writev(this.#fd, round, position, (error, written) => {
      if (error !== null) return done(fromSystemError("write", this.path, error));
      if (written === 0) return done(diskError({ operation: "write", path: this.path, errno: "EIO" }));
      const rest = partsAfter(parts, written);
      if (rest.length === 0) done();
      else this.#writeOn(rest, position + written, done);
    });
  }

  #readOn(
    call: {
      target: Uint8Array;
      position: number;
      done: (error: CodedError | undefined, length: number) => void;
    },
    filled: number,
  ): void {
    const { target, position, done } = call;
    const wanted = Math.min(target.length - filled, READ_LENGTH_MAX);
    this.#calls.read(this.#fd, target, filled, wanted, position + filled, (error, length) => {
      if (error !== null) return done(fromSystemError("read", this.path, error), filled);
      const total = filled + length;
      if (length === 0 || total === target.length) done(undefined, total);
      else this.#readOn(call, total);
    });
  }

  #closedError(operation: string): CodedError | undefined {
    return this.#closed ? diskError({ operation, path: this.path, errno: "EBADF" }) : undefined;
  }

  async #run<T>(operation: string, call: (fd: number) => Promise<T>): Promise<T> {
    const closed = this.#closedError(operation);
    if (closed !== undefined) throw closed;
    try {
      return await call(this.#fd);
    } catch (error) {
      throw fromSystemError(operation, this.path, error);
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
