import type { ConsumerKindByte } from "../op-record/small-operation.ts";

/** One stored offset. */
export interface StoredOffset {
  readonly consumerKind: ConsumerKindByte;
  readonly id: number;
  readonly offset: number;
}

/** Stored offsets of a partition: two key spaces, plain consumers and groups, each id a u32. */
export class ConsumerOffsets {
  readonly #consumers = new Map<number, number>();
  readonly #groups = new Map<number, number>();

  get(kind: ConsumerKindByte, id: number): number | undefined {
    return this.#table(kind).get(id);
  }

  set(kind: ConsumerKindByte, id: number, offset: number): void {
    this.#table(kind).set(id, offset);
  }

  delete(kind: ConsumerKindByte, id: number): void {
    this.#table(kind).delete(id);
  }

  count(kind: ConsumerKindByte): number {
    return this.#table(kind).size;
  }

  clear(): void {
    this.#consumers.clear();
    this.#groups.clear();
  }

  *all(): Iterable<StoredOffset> {
    for (const [id, offset] of this.#consumers) yield { consumerKind: 1, id, offset };
    for (const [id, offset] of this.#groups) yield { consumerKind: 2, id, offset };
  }

  clone(): ConsumerOffsets {
    const copy = new ConsumerOffsets();
    for (const { consumerKind, id, offset } of this.all()) copy.set(consumerKind, id, offset);
    return copy;
  }

  #table(kind: ConsumerKindByte): Map<number, number> {
    return kind === 1 ? this.#consumers : this.#groups;
  }
}
