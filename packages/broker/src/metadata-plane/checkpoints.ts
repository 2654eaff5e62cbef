import type { Log } from "@millrace/platform";
import type { MetadataJournal } from "@millrace/storage";
import { encodeSnapshot, type MetadataSnapshot } from "./snapshot.ts";

/** What checkpoints need. */
export interface CheckpointOptions {
  readonly journal: MetadataJournal;
  /** Ops between two snapshots. */
  readonly snapshotEveryOps: number;
  readonly log: Log;
}

/** Puts a snapshot in the place of the journal's ops whenever it holds many; one at a time. */
export class Checkpoints {
  readonly #options: CheckpointOptions;
  #underWay: Promise<void> | undefined = undefined;

  constructor(options: CheckpointOptions) {
    this.#options = options;
  }

  /** Writes the state when enough ops were journaled. A failure is logged, and the next op tries again. */
  takeWhenDue(snapshot: () => MetadataSnapshot): void {
    const { journal, snapshotEveryOps, log } = this.#options;
    if (this.#underWay !== undefined || journal.recordsSinceSnapshot < snapshotEveryOps) return;
    const state = snapshot();
    const { op } = state.end;
    this.#underWay = journal
      .checkpoint(op, encodeSnapshot(state))
      .catch((error: unknown) =>
        log.warn("A metadata snapshot could not be written.", { op, error: String(error) }),
      )
      .finally(() => {
        this.#underWay = undefined;
      });
  }

  /** Settles when none is under way. */
  async idle(): Promise<void> {
    await this.#underWay;
  }
}
