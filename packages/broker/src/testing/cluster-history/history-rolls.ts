import type { DiskFaults } from "@millrace/platform/sim";

const SEGMENT_PATTERN = /^(streams\/.+)\/\d{20}(\.g\d+)?\.log$/;

/** Counts the segments that partitions begin behind others, from the files that their nodes open. */
export class Rolls {
  readonly #segments = new Set<string>();
  /** What begins with a first segment: a partition, and again behind each purge. */
  readonly #beginnings = new Set<string>();

  /** Sees the calls to all disks; nothing fails. */
  readonly see: DiskFaults = ({ kind, path }) => {
    const match = kind === "open" ? SEGMENT_PATTERN.exec(path) : null;
    if (match !== null) {
      this.#segments.add(path);
      this.#beginnings.add(`${match[1]}${match[2] ?? ""}`);
    }
    return undefined;
  };

  /** Segments that were begun, each once however many nodes have it, without the first ones. */
  get count(): number {
    return this.#segments.size - this.#beginnings.size;
  }
}
