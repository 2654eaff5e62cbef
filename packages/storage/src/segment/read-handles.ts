import type { Disk, DiskFile } from "@millrace/platform";

/** Files kept open for the next read: a consumer that catches up reads one segment at a time. */
const IDLE_HANDLES_MAX = 2;

interface Handle {
  readonly file: DiskFile;
  users: number;
  /** No new user gets it; it closes with the last one. */
  doomed: boolean;
}

/**
 * Files of one partition open for reading, shared by the reads in flight.
 *
 * A file is never closed under a read: who finishes calls `done`. At most two stay open without a reader.
 */
export class ReadHandles {
  readonly #disk: Disk;
  /** In the order of last use. */
  readonly #handles = new Map<string, Handle>();
  readonly #closing = new Set<Promise<void>>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** The open file at `path`; `done` must follow once. */
  async use(path: string): Promise<{ readonly file: DiskFile; readonly done: () => void }> {
    const handle = this.#handles.get(path) ?? (await this.#open(path));
    handle.users += 1;
    this.#handles.delete(path);
    this.#handles.set(path, handle);
    return { file: handle.file, done: () => this.#finish(path, handle) };
  }

  /** Closes the file as soon as nobody reads it: its name goes away. */
  forget(path: string): void {
    const handle = this.#handles.get(path);
    if (handle === undefined) return;
    this.#handles.delete(path);
    handle.doomed = true;
    if (handle.users === 0) this.#close(handle);
  }

  /** Closes everything; answers when all is closed that no read still uses. */
  async closeAll(): Promise<void> {
    for (const path of [...this.#handles.keys()]) this.forget(path);
    await Promise.all(this.#closing);
  }

  async #open(path: string): Promise<Handle> {
    const file = await this.#disk.openFile(path, "read");
    const raced = this.#handles.get(path);
    if (raced === undefined) {
      const handle = { file, users: 0, doomed: false };
      this.#handles.set(path, handle);
      return handle;
    }
    await file.close();
    return raced;
  }

  #finish(path: string, handle: Handle): void {
    handle.users -= 1;
    if (handle.users > 0) return;
    if (handle.doomed) {
      this.#close(handle);
      return;
    }
    this.#closeIdle(path);
  }

  #closeIdle(latest: string): void {
    for (const [path, handle] of this.#handles) {
      if (this.#handles.size <= IDLE_HANDLES_MAX) return;
      if (handle.users === 0 && path !== latest) this.forget(path);
    }
  }

  #close(handle: Handle): void {
    const closing = handle.file.close().catch(() => undefined);
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }
}
