import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { RecordKind } from "../op-record/record.ts";
import type { PartitionState } from "../partition/partition-state.ts";
import { scanRecords } from "../recovery/record-scan.ts";
import type { Segment } from "../segment/segment.ts";
import { decodeIndex, INDEX_LENGTH_MAX } from "./index-file.ts";
import { SparseIndex } from "./sparse-index.ts";

/** Indexes of sealed segments kept in memory per partition: 24 bytes for each 256 KiB of eight segments. */
const LOADED_MAX = 8;

/**
 * Finds batch starts of a partition's segments: from memory, from `.index`, or from the `.ops`, which knows
 * them all.
 */
export class SegmentIndexes {
  readonly #disk: Disk;
  readonly #kernel: ChecksumKernel;
  readonly #state: PartitionState;
  /** Sealed segments whose index is in memory, in the order of last use. */
  readonly #loaded = new Set<Segment>();
  #dense: { readonly segment: Segment; readonly opsLength: number; readonly index: SparseIndex } | undefined;

  constructor(disk: Disk, kernel: ChecksumKernel, state: PartitionState) {
    this.#disk = disk;
    this.#kernel = kernel;
    this.#state = state;
  }

  /** An index that may leave batches out, and may even be wrong: check what it leads to. */
  async sparse(segment: Segment): Promise<SparseIndex> {
    if (segment === this.#state.active && segment.index !== undefined) return segment.index;
    segment.index ??= (await this.#load(segment)) ?? (await this.#build(segment, "sparse"));
    this.#loaded.delete(segment);
    this.#loaded.add(segment);
    for (const oldest of this.#loaded) {
      if (this.#loaded.size <= LOADED_MAX) break;
      this.#loaded.delete(oldest);
      if (oldest !== this.#state.active) oldest.index = undefined;
    }
    return segment.index;
  }

  /** Every batch of the segment, as its op records name them. Slow; for when the sparse index led astray. */
  async dense(segment: Segment): Promise<SparseIndex> {
    const { opsLength } = segment;
    if (this.#dense?.segment !== segment || this.#dense.opsLength !== opsLength) {
      this.#dense = { segment, opsLength, index: await this.#build(segment, "dense") };
    }
    return this.#dense.index;
  }

  async #load(segment: Segment): Promise<SparseIndex | undefined> {
    const path = this.#state.filePath(segment, "index");
    const bytes = await this.#disk.readWhole(path, INDEX_LENGTH_MAX).catch(() => undefined);
    const index = bytes === undefined ? undefined : decodeIndex(bytes, segment);
    if (index === undefined)
      this.#state.log.warn("An index is missing or wrong and is built anew.", { path });
    return index;
  }

  async #build(segment: Segment, kind: "sparse" | "dense"): Promise<SparseIndex> {
    const index = new SparseIndex();
    const path = this.#state.filePath(segment, "ops");
    if ((await this.#disk.stat(path)) === undefined) return index;
    const file = await this.#disk.openFile(path, "read");
    try {
      const range = { file, kernel: this.#kernel, from: 0, end: segment.opsLength };
      await scanRecords(
        range,
        (records) => {
          for (const { record } of records) {
            if (record.kind !== RecordKind.batch) continue;
            const { baseOffset, position } = record.place;
            if (kind === "dense") index.add(baseOffset, record.header.timestamp, position);
            else index.note(baseOffset, record.header.timestamp, position);
          }
          return true;
        },
        "search",
      );
    } finally {
      await file.close();
    }
    return index;
  }
}
