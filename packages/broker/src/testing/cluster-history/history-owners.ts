import assert from "node:assert/strict";

/** What a member was told of its group. */
export interface Assignment {
  readonly member: bigint;
  readonly generation: number;
  readonly partitions: readonly number[];
}

/** Who owns which partitions of a group in which of its generations. */
export class GroupOwners {
  readonly #owners = new Map<string, bigint>();
  #generation = 0;

  /** The latest generation anybody was told of: whoever joins from now on is told of none before it. */
  get generation(): number {
    return this.#generation;
  }

  /** A member was told what it owns; `joinedBehind` is the generation known when it began to join. */
  assigned({ member, generation, partitions }: Assignment, joinedBehind: number): void {
    assert.ok(generation >= joinedBehind, `generation ${generation} was over: ${joinedBehind} was known`);
    this.#generation = Math.max(generation, this.#generation);
    for (const partition of partitions) {
      const key = `${generation}/${partition}`;
      const owner = this.#owners.get(key) ?? member;
      assert.equal(owner, member, `partition ${partition} has one owner in generation ${generation}`);
      this.#owners.set(key, member);
    }
  }
}
