import type { CodedError } from "@millrace/errors";
import type { DiskFile } from "../disk.ts";
import { diskError } from "../disk-error.ts";
import type { DiskFault } from "./disk-faults.ts";
import type { SimContent } from "./sim-content.ts";
import type { SimDevice, WriteInFlight } from "./sim-device.ts";

type WriteDone = (error?: CodedError) => void;
type ReadDone = (error: CodedError | undefined, length: number) => void;

/** An open file of a simulated disk. It keeps its content when the name goes away, as on a real one. */
export class SimFile implements DiskFile {
  readonly path: string;
  readonly #device: SimDevice;
  readonly #content: SimContent;
  readonly #writable: boolean;
  /** Bytes that fit on the disk when this file should become `length` bytes long. */
  readonly #roomFor: (content: SimContent, length: number) => number;
  #closed = false;

  constructor(options: {
    path: string;
    device: SimDevice;
    content: SimContent;
    writable: boolean;
    roomFor: (content: SimContent, length: number) => number;
  }) {
    this.path = options.path;
    this.#device = options.device;
    this.#content = options.content;
    this.#writable = options.writable;
    this.#roomFor = options.roomFor;
  }

  write(parts: readonly Uint8Array[], position: number, done: WriteDone): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const fault = this.#faultOf("write", position, length);
    const content = this.#content;
    const write: WriteInFlight = { length, store: (stored) => storeParts(content, parts, position, stored) };
    this.#device.inFlight.add(write);
    this.#device.schedule(() => {
      if (fault?.kind === "short") write.store(fault.writtenLength);
      if (fault?.kind === "short")
        this.#device.schedule(() => this.#finishWrite(write, position, undefined, done));
      else this.#finishWrite(write, position, fault, done);
    });
  }

  read(target: Uint8Array, position: number, done: ReadDone): void {
    const fault = this.#faultOf("read", position, target.length);
    this.#device.schedule(() => {
      const error = this.#errorOf("read", fault);
      const length = error === undefined ? this.#content.read(target, position) : 0;
      if (fault?.kind === "flip-bit") flipBit(target.subarray(0, length), fault.bit);
      done(error, length);
    });
  }

  datasync(done: WriteDone): void {
    const fault = this.#faultOf("datasync", 0, 0);
    const sync = this.#content.beginSync(fault?.kind === "error");
    this.#device.schedule(() => {
      const error = this.#errorOf("datasync", fault);
      if (this.#device.alive) sync.end();
      done(error);
    });
  }

  preallocate(_length: number): Promise<void> {
    return Promise.resolve();
  }

  truncate(length: number): Promise<void> {
    return this.#device.perform({ kind: "truncate", path: this.path }, () => {
      this.#checkOpen("truncate");
      this.#content.truncate(length);
    });
  }

  length(): Promise<number> {
    return this.#device.perform({ kind: "open", path: this.path }, () => {
      this.#checkOpen("stat");
      return this.#content.length;
    });
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  #finishWrite(write: WriteInFlight, position: number, fault: DiskFault | undefined, done: WriteDone): void {
    this.#device.inFlight.delete(write);
    const error = this.#errorOf("write", fault);
    const room = this.#roomFor(this.#content, position + write.length) - position;
    if (error !== undefined) {
      if (this.#device.alive && fault?.kind === "error") write.store(fault.writtenLength ?? 0);
      done(error);
    } else if (room < write.length) {
      write.store(Math.max(0, room));
      done(diskError({ operation: "write", path: this.path, errno: "ENOSPC" }));
    } else {
      write.store(write.length);
      if (fault?.kind === "flip-bit") this.#content.flipBit(position * 8 + fault.bit);
      done();
    }
  }

  #faultOf(kind: "write" | "read" | "datasync", position: number, length: number): DiskFault | undefined {
    if (this.#closed || (kind === "write" && !this.#writable)) return { kind: "error", errno: "EBADF" };
    return this.#device.faultOf({ kind, path: this.path, position, length });
  }

  #errorOf(operation: string, fault: DiskFault | undefined): CodedError | undefined {
    const { path } = this;
    if (fault?.kind === "error") return diskError({ operation, path, errno: fault.errno });
    return this.#device.deadError(operation, path);
  }

  #checkOpen(operation: string): void {
    if (this.#closed) throw diskError({ operation, path: this.path, errno: "EBADF" });
  }
}

/** Stores the first `length` bytes of the parts. */
function storeParts(
  content: SimContent,
  parts: readonly Uint8Array[],
  position: number,
  length: number,
): void {
  let stored = 0;
  for (const part of parts) {
    const piece = part.subarray(0, Math.min(part.length, length - stored));
    content.write(piece, position + stored);
    stored += piece.length;
    if (stored === length) return;
  }
}

function flipBit(bytes: Uint8Array, bit: number): void {
  const at = bit >>> 3;
  if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
}
