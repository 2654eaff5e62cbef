import type { CrashKind } from "./crash-kind.ts";
import type { Device } from "./device.ts";

/** What must survive whatever happens to a journal. */
export interface SuperblockFields {
  readonly view: number;
  readonly logView: number;
  /** The journal may once have held more than it does now. */
  readonly mayHaveLost: boolean;
  /** Nothing was written since the directory was wiped: the view is not known. */
  readonly isViewForgotten?: boolean;
}

interface Write {
  readonly fields: SuperblockFields;
  readonly done: () => void;
}

/**
 * A superblock written in a pair: a write is synced before it is reported, and one that a crash interrupts is
 * there in full or not at all. Writes happen one after the other, in the order they were asked for.
 */
export class SimSuperblock {
  readonly #device: Device;
  #durable: SuperblockFields;
  #writes: Write[] = [];

  constructor(device: Device, fields: SuperblockFields) {
    this.#device = device;
    this.#durable = fields;
  }

  /** What a restart finds. */
  get durable(): SuperblockFields {
    return this.#durable;
  }

  /** What the process last asked for. */
  get latest(): SuperblockFields {
    return this.#writes.at(-1)?.fields ?? this.#durable;
  }

  write(fields: SuperblockFields, done: () => void): void {
    this.#writes.push({ fields, done });
    if (this.#writes.length === 1) this.#begin(this.#writes);
  }

  /** The process is gone: the write in progress may have been done, later ones were not begun. */
  crash(_kind: CrashKind): void {
    const first = this.#writes[0];
    if (first !== undefined && this.#device.chance.chance(0.5)) this.#durable = first.fields;
    this.#writes = [];
  }

  /** Sets a field at once, as a host does before it starts its replica. */
  set(fields: SuperblockFields): void {
    this.#durable = fields;
  }

  #begin(writes: Write[]): void {
    this.#device.sync(() => {
      if (this.#writes !== writes) return;
      const done = writes.shift() as Write;
      this.#durable = done.fields;
      if (writes.length > 0) this.#begin(writes);
      done.done();
    });
  }
}
