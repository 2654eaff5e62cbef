import type { Disk } from "@millrace/platform";
import type { ReadHandles } from "../segment/read-handles.ts";
import type { Segment } from "../segment/segment.ts";
import { removeSegmentFiles } from "../segment/segment-files.ts";
import { compareSegmentNames, type SegmentName } from "../segment/segment-name.ts";
import type { OpEntry } from "./op-entry.ts";
import { applyToOffsets, type PartitionState } from "./partition-state.ts";

/** What committing needs besides the state. */
export interface CommitsOptions {
  readonly disk: Disk;
  readonly handles: ReadHandles;
  /** False for a reader: files stay. */
  readonly mayRemoveFiles: boolean;
  /** Most keys per kind; a new key beyond it is not stored. */
  readonly consumerOffsetsMax: number;
  /**
   * Makes what the active segment says survive power loss before older files go, on a replica also how far
   * the journal is committed; rejects when it cannot.
   */
  readonly makeSure: () => Promise<void>;
  /** A purge took effect: memory of older generations goes. */
  readonly onPurged: (generation: number) => void;
}

/**
 * Makes journaled ops visible in op order: messages, stored offsets, truncations, purges.
 *
 * Files of segments that went away are removed afterwards, one removal at a time; a removal that fails or
 * that a crash cuts short is finished at the next start.
 */
export class Commits {
  readonly #state: PartitionState;
  readonly #options: CommitsOptions;
  #target = 0;
  #removal: Promise<void> = Promise.resolve();
  /** What recovery takes away stays until recovery has looked at all it found; nothing from then on. */
  #heldBack: (readonly SegmentName[])[] | undefined = [];

  constructor(state: PartitionState, options: CommitsOptions) {
    this.#state = state;
    this.#options = options;
  }

  /** Commits everything up to `op` that is journaled; the rest as soon as it is. */
  commit(op: number): void {
    if (op > this.#target) this.#target = op;
    this.advance();
  }

  /** Takes up what became journaled since. */
  advance(): void {
    const state = this.#state;
    const limit = Math.min(this.#target, state.journaled.op);
    const { uncommitted } = state;
    for (let entry = uncommitted.first; entry !== undefined && entry.header.op <= limit; ) {
      this.#apply(entry);
      uncommitted.dropFirst();
      entry = uncommitted.first;
    }
    if (limit > state.committedOp) state.committedOp = limit;
    const { leftBehind } = state;
    while (leftBehind[0] !== undefined && leftBehind[0].op <= state.committedOp) {
      this.removeFiles(leftBehind.shift()?.segments ?? []);
    }
  }

  /**
   * Files of segments that a checkpoint left out, or that an unfinished removal left behind; they go once
   * `op`, at which that checkpoint stands, is committed: until then a cut may bring back the state before it.
   */
  removeOnceCommitted(op: number, segments: readonly Segment[]): void {
    if (segments.length > 0) this.#state.leftBehind.push({ op, segments });
  }

  /**
   * A segment was left for the next one. It goes when it holds no message, or when a purge that took effect
   * before was waiting for that.
   */
  leave(sealed: Segment): void {
    const state = this.#state;
    if (sealed.generation < state.visibleGeneration) {
      this.#takeAway((segment) => segment === sealed);
    } else if (sealed.isEmpty && sealed.generation === state.journaled.generation) {
      state.segments = state.segments.filter((segment) => segment !== sealed);
      this.removeOnceCommitted(state.journaled.op, [sealed]);
    }
  }

  /** Removes files of segments that are no longer listed. */
  removeFiles(names: readonly SegmentName[]): void {
    if (!this.#options.mayRemoveFiles || names.length === 0) return;
    const { handles } = this.#options;
    for (const name of names) {
      for (const kind of ["log", "ops"] as const) handles.forget(this.#state.filePath(name, kind));
    }
    if (this.#heldBack !== undefined) {
      this.#heldBack.push(names);
      return;
    }
    this.#removal = this.#removal.then(() => this.#remove(names));
  }

  /** Begins to remove files: recovery is over and reads none of them any more. */
  startRemoving(): void {
    const names = this.#heldBack ?? [];
    this.#heldBack = undefined;
    for (const some of names) this.removeFiles(some);
  }

  /** Answers when no removal is under way. */
  idle(): Promise<void> {
    return this.#removal;
  }

  #apply(entry: OpEntry): void {
    const state = this.#state;
    const operation = entry.small?.operation;
    const { header, request } = entry;
    state.committedOp = header.op;
    if (request !== undefined) state.requests.note({ client: header.client, user: header.user, request });
    if (operation?.kind === "purge") {
      this.#purge(operation.generation);
      return;
    }
    state.committedNextOffset = entry.endOffset;
    if (operation?.kind === "truncate") {
      this.#truncate(operation.upToOffset);
      return;
    }
    if (operation?.kind === "store-offset" && !this.mayStore(operation.consumerKind, operation.id)) {
      state.log.warn("A new consumer offset is beyond the limit and was not stored.", {
        partition: state.path,
        id: operation.id,
      });
      return;
    }
    if (operation !== undefined) applyToOffsets(state.offsets, operation);
  }

  /** True when the key is stored already or there is room for a new one. */
  mayStore(kind: 1 | 2, id: number): boolean {
    const { offsets } = this.#state;
    return offsets.get(kind, id) !== undefined || offsets.count(kind) < this.#options.consumerOffsetsMax;
  }

  #truncate(upToOffset: number): void {
    const { active, visibleGeneration } = this.#state;
    this.#takeAway(
      (segment) =>
        segment !== active && segment.generation === visibleGeneration && segment.endOffset <= upToOffset,
    );
  }

  #purge(generation: number): void {
    const state = this.#state;
    state.visibleGeneration = generation;
    state.committedNextOffset = 0;
    state.offsets.clear();
    this.#options.onPurged(generation);
    // On a full disk the next segment may not be there yet: the last one before the purge stays until it is.
    const { active } = state;
    this.#takeAway((segment) => segment.generation < generation && segment !== active);
  }

  #takeAway(goes: (segment: Segment) => boolean): void {
    const state = this.#state;
    const gone = state.segments.filter(goes);
    state.segments = state.segments.filter((segment) => !goes(segment));
    this.removeFiles(gone.toSorted(compareSegmentNames));
  }

  async #remove(names: readonly SegmentName[]): Promise<void> {
    const { disk } = this.#options;
    const { path, log } = this.#state;
    try {
      await this.#options.makeSure();
      await disk.syncDirectory(path);
      await removeSegmentFiles(disk, path, names);
    } catch (error) {
      log.warn("Files of removed segments remain until the next start.", { path, error });
    }
  }
}
