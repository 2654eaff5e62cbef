import { assert } from "@millrace/errors";
import type { Identifier } from "@millrace/protocol";

/** Anything that has a number and a name, both unique in its set. */
interface Named {
  readonly id: number;
  readonly name: string;
}

/** The reading half of a `NamedSet`. */
export interface NamedSetView<T extends Named> {
  readonly size: number;
  byId(id: number): T | undefined;
  /** Names compare byte for byte: case matters and nothing is trimmed. */
  byName(name: string): T | undefined;
  find(identifier: Identifier): T | undefined;
  /** All members by ascending id; the same array until the set changes. */
  list(): readonly T[];
}

/** Streams, topics of one stream, or users: found by id and by name. Members are replaced, never changed. */
export class NamedSet<T extends Named> implements NamedSetView<T> {
  readonly #byId = new Map<number, T>();
  readonly #byName = new Map<string, T>();
  #sorted: readonly T[] | undefined;
  /** Every id below is taken: only a place to start looking, so that the answer depends on the set alone. */
  #takenBelow = 0;

  get size(): number {
    return this.#byId.size;
  }

  byId(id: number): T | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): T | undefined {
    return this.#byName.get(name);
  }

  find(identifier: Identifier): T | undefined {
    return identifier.kind === "numeric" ? this.byId(identifier.id) : this.byName(identifier.name);
  }

  list(): readonly T[] {
    this.#sorted ??= [...this.#byId.values()].sort((one, other) => one.id - other.id);
    return this.#sorted;
  }

  /**
   * The lowest id that no member has: a pure function of the taken ids, whatever order they came and went in.
   */
  lowestFreeId(): number {
    while (this.#byId.has(this.#takenBelow)) this.#takenBelow += 1;
    return this.#takenBelow;
  }

  add(member: T): void {
    assert(
      !this.#byId.has(member.id) && !this.#byName.has(member.name),
      "a new member's id and name are free",
    );
    this.#byId.set(member.id, member);
    this.#byName.set(member.name, member);
    this.#sorted = undefined;
  }

  /** Puts `member` in the place of the one with its id. */
  replace(member: T): void {
    const before = this.#byId.get(member.id);
    assert(before !== undefined, "a replaced member is in the set");
    this.#byName.delete(before.name);
    assert(!this.#byName.has(member.name), "a replacing member's name is free");
    this.#byId.set(member.id, member);
    this.#byName.set(member.name, member);
    this.#sorted = undefined;
  }

  remove(member: T): void {
    const before = this.#byId.get(member.id);
    if (before === undefined) return;
    this.#byId.delete(before.id);
    this.#byName.delete(before.name);
    this.#takenBelow = Math.min(this.#takenBelow, before.id);
    this.#sorted = undefined;
  }
}
