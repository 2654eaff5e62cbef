import type { CrashKind, Durability } from "../disk/crash-kind.ts";
import type { Device } from "../disk/device.ts";
import { type FoundJournal, SimJournal } from "../disk/sim-journal.ts";
import { SimSuperblock } from "../disk/sim-superblock.ts";
import type { GroupPlan, SeedPlan } from "../seed-plan.ts";
import { EMPTY_LOG, type LogSnapshot } from "./append-log.ts";

/** A checkpoint: the state and, with sessions, the encoded client table, as of the same op. Always whole. */
export interface Checkpoint {
  readonly log: LogSnapshot;
  readonly table: Uint8Array | undefined;
}

/** What one node's disk holds of one group; it outlives the process. */
export class GroupStore {
  readonly journal: SimJournal;
  readonly superblock: SimSuperblock;
  checkpoint: Checkpoint = { log: EMPTY_LOG, table: undefined };
  readonly #durability: Durability;
  /** Until its first start. */
  isNew = true;
  #hasLostPower = false;

  constructor(device: Device, plan: SeedPlan, { group }: GroupPlan) {
    this.#durability = plan.durability;
    this.journal = new SimJournal(device, plan.durability, plan.syncDelayMicros);
    this.superblock = new SimSuperblock(device, { view: group, logView: group, mayHaveLost: false });
  }

  /** Lost data that was reported as written, or will be found to have lost it; not made up for yet. */
  get isHarmed(): boolean {
    return this.#hasLostPower || this.superblock.durable.mayHaveLost || this.journal.isRotten;
  }

  /** The process is gone. Under `replicated` a power loss is always a possible loss. */
  crash(kind: CrashKind): void {
    this.journal.crash(kind);
    this.superblock.crash(kind);
    if (kind === "power" && this.#durability === "replicated") this.#hasLostPower = true;
  }

  /** The directory is gone; its replica begins from nothing, and knows that it may have held something. */
  wipe(): void {
    this.journal.wipe();
    this.superblock.set({ view: 0, logView: 0, mayHaveLost: true, isViewForgotten: true });
    this.checkpoint = { log: EMPTY_LOG, table: undefined };
  }

  /** Reads the journal as a start does, and notes durably when it may have held more. */
  open(): FoundJournal {
    const found = this.journal.open(this.checkpoint.log);
    const { durable } = this.superblock;
    const mayHaveLost = durable.mayHaveLost || found.hasLost || this.#hasLostPower;
    this.#hasLostPower = false;
    this.isNew = false;
    this.superblock.set({ ...durable, mayHaveLost });
    return found;
  }
}
