import { once } from "node:events";
import { join } from "node:path";
import type { Clock, Disk, Timer } from "@millrace/platform";
import { pino } from "pino";
import { LOG_FILE, oldLogFiles, oldLogName } from "./log-files.ts";
import type { LogSink } from "./log-sinks.ts";

/** Readable by the server's own user only, like the data. */
const FILE_MODE = 0o600;
/** Lines that wait for a slow disk; beyond it lines are dropped and counted. */
const WAITING_LENGTH_MAX = 4 * 1024 * 1024;

/** A disk that works takes what waits within milliseconds. */
const CLOSE_MAX_MS = 1000;

/** How log files are kept. Zero stands for no limit. */
export interface LogFileLimits {
  /** Bytes after which a file is put aside and a new one begun. */
  readonly fileLengthMax: number;
  /** Bytes of all files together; the oldest are deleted. */
  readonly totalLengthMax: number;
  /** Milliseconds after which a file that was put aside is deleted. */
  readonly retentionMs: number;
  /** Milliseconds between two looks at total and age; each time a file is put aside is one more. */
  readonly checkEveryMs: number;
}

/** What log files are written with. */
export interface LogFileParts {
  /** The folder of the log files and nothing else of the server's. */
  readonly disk: Disk;
  readonly clock: Clock;
  readonly limits: LogFileLimits;
  /** A line was lost, or files could not be put aside; called for each. */
  readonly onTrouble: (error: Error) => void;
}

type Destination = ReturnType<typeof pino.destination>;

/**
 * Log lines in files, put aside when they are full and deleted when they are too many or too old.
 *
 * Lines are written in the background and never waited for.
 */
export class RotatingFiles implements LogSink {
  readonly #parts: LogFileParts;
  readonly #file: Destination;
  #length: number;
  #tidying: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  private constructor(parts: LogFileParts, file: Destination, length: number) {
    this.#parts = parts;
    this.#file = file;
    this.#length = length;
    file.on("error", parts.onTrouble);
    file.on("drop", () => parts.onTrouble(new Error("the disk is slower than the log")));
    this.#checkLater();
  }

  /**
   * Makes the folder and begins or continues its file.
   *
   * @throws CodedError IoError when folder or file cannot be made
   */
  static async open(parts: LogFileParts): Promise<RotatingFiles> {
    const { disk } = parts;
    await disk.makeDirectory("");
    // Opened here first: a folder that cannot be written is an error of the start, not of the first line.
    const probe = await disk.openFile(LOG_FILE, "create-or-open");
    const length = await probe.length();
    await probe.close();
    const dest = join(disk.root, LOG_FILE);
    const file = pino.destination({ dest, mode: FILE_MODE, sync: false, maxLength: WAITING_LENGTH_MAX });
    // What is to be written before the process ends can only be written to a file that is open.
    await once(file, "ready");
    const files = new RotatingFiles(parts, file, length);
    await files.#tidy();
    return files;
  }

  /** The folder of the files. */
  get disk(): Disk {
    return this.#parts.disk;
  }

  write(line: string): void {
    this.#file.write(line);
    this.#length += Buffer.byteLength(line);
    const { fileLengthMax } = this.#parts.limits;
    if (fileLengthMax === 0 || this.#length < fileLengthMax) return;
    this.#length = 0;
    this.#enqueue(() => this.#putAside());
  }

  /**
   * Writes what waits, before this returns; for a process that is about to end. A line that is on its way to
   * the file already may come behind it.
   */
  flushNow(): void {
    try {
      this.#file.flushSync();
    } catch (error) {
      this.#parts.onTrouble(error as Error);
    }
  }

  /** Writes what waits and closes the file; a disk that takes nothing is given up after a second. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    await this.#tidying;
    const giveUp = new AbortController();
    // It keeps the process alive on purpose, until one or the other has happened.
    const cutOff = setTimeout(() => giveUp.abort(), CLOSE_MAX_MS);
    const isClosed = once(this.#file, "close", { signal: giveUp.signal });
    this.#file.end();
    await isClosed.catch((error: Error) => {
      this.#parts.onTrouble(error);
      this.#file.destroy();
    });
    clearTimeout(cutOff);
  }

  /** What waits still reaches the file under its new name: it stays open until then. */
  async #putAside(): Promise<void> {
    const { disk, clock } = this.#parts;
    await disk.rename(LOG_FILE, oldLogName(clock.wallMicros()));
    const isOpen = once(this.#file, "ready");
    this.#file.reopen();
    await isOpen;
    await this.#tidy();
  }

  async #tidy(): Promise<void> {
    const { disk, clock, limits } = this.#parts;
    const oldestMicros = clock.wallMicros() - limits.retentionMs * 1000;
    const files = await oldLogFiles(disk);
    let total = this.#length + files.reduce((sum, { length }) => sum + length, 0);
    for (const { name, closedMicros, length } of files) {
      const isTooOld = limits.retentionMs > 0 && closedMicros < oldestMicros;
      const isTooMuch = limits.totalLengthMax > 0 && total > limits.totalLengthMax;
      if (!isTooOld && !isTooMuch) return;
      await disk.removeFile(name);
      total -= length;
    }
  }

  /** One at a time, in order; a failure is told and the next one tried all the same. */
  #enqueue(work: () => Promise<void>): void {
    this.#tidying = this.#tidying.then(work).catch(this.#parts.onTrouble);
  }

  #checkLater(): void {
    const { clock, limits } = this.#parts;
    if (limits.checkEveryMs === 0) return;
    this.#timer = clock.setTimer(limits.checkEveryMs, () => {
      this.#enqueue(() => this.#tidy());
      this.#checkLater();
    });
  }
}
