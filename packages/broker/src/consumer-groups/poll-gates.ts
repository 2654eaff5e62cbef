import type { GroupPlace } from "@millrace/metadata";

interface Gate {
  holdsCount: number;
  readonly waiting: (() => void)[];
}

/**
 * Holds back polls of a group while one of its joins is on its way through the log: what the join says about
 * messages in flight stays true until it is executed.
 */
export class PollGates {
  readonly #gates = new Map<string, Gate>();

  /** Holds the group's polls; the returned function, called once, lets them go. */
  hold(place: GroupPlace): () => void {
    const key = placeKey(place);
    const gate = this.#gates.get(key) ?? { holdsCount: 0, waiting: [] };
    this.#gates.set(key, gate);
    gate.holdsCount += 1;
    return () => this.#release(key, gate);
  }

  /** Calls back once no join of the group is on its way: at once when there is none. */
  pass(place: GroupPlace, callback: () => void): void {
    const gate = this.#gates.get(placeKey(place));
    if (gate === undefined) callback();
    else gate.waiting.push(callback);
  }

  #release(key: string, gate: Gate): void {
    gate.holdsCount -= 1;
    if (gate.holdsCount > 0) return;
    this.#gates.delete(key);
    for (const callback of gate.waiting) callback();
  }
}

/** A group's place as the key of a map. */
export function placeKey({ streamId, topicId, groupId }: GroupPlace): string {
  return `${streamId}/${topicId}/${groupId}`;
}
