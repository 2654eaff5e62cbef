import type { DiskCall } from "@millrace/platform/sim";

const SEGMENT_PATTERN = /^(streams\/.+)\/\d{20}(\.g\d+)?\.log$/;

type Heard = (path: string) => void;

/** Sees the segments that partitions begin behind others, from the files that their nodes open. */
export class Rolls {
  readonly #segments = new Set<string>();
  /** The same with the nodes. */
  readonly #ofNodes = new Set<string>();
  /** What begins with a first segment: a partition, and again behind each purge. */
  readonly #beginnings = new Set<string>();
  /** By node: who waits for the next segment that it begins behind another. */
  readonly #waiting = new Map<number, Heard>();

  /** Sees the calls to the disk of node `at`; nothing fails. */
  readonly see = ({ kind, path }: DiskCall, at: number): undefined => {
    const match = kind === "open" ? SEGMENT_PATTERN.exec(path) : null;
    if (match === null || this.#ofNodes.has(`${at} ${path}`)) return;
    this.#ofNodes.add(`${at} ${path}`);
    this.#segments.add(path);
    const beginning = `${match[1]}${match[2] ?? ""}`;
    const isFirst = !this.#ofNodes.has(`${at} ${beginning}`);
    this.#beginnings.add(beginning);
    this.#ofNodes.add(`${at} ${beginning}`);
    if (!isFirst) this.#waiting.get(at)?.(path);
  };

  /** Segments that were begun, each once however many nodes have it, without the first ones. */
  get count(): number {
    return this.#segments.size - this.#beginnings.size;
  }

  /** Calls back with the next segment that a node begins behind another; answers how to wait no more. */
  onNext(at: number, heard: Heard): () => void {
    const waits = (path: string) => {
      ends();
      heard(path);
    };
    const ends = () => {
      if (this.#waiting.get(at) === waits) this.#waiting.delete(at);
    };
    this.#waiting.set(at, waits);
    return ends;
  }
}
