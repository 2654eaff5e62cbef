import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Formation } from "./formation.ts";

interface Told {
  readonly from: number;
  readonly to: number;
  readonly starts: readonly number[];
}

/**
 * Nodes of which each starts with a directory: empty when it names a start, else one that holds something.
 */
class Nodes {
  readonly formed: number[] = [];
  readonly #formations: Formation[];
  readonly #isEmpty: boolean[];
  readonly #told: Told[] = [];

  constructor(starts: readonly number[]) {
    this.#isEmpty = starts.map((start) => start > 0);
    this.#formations = starts.map((start, replica) => this.#start(replica, start, starts.length));
  }

  #start(replica: number, start: number, replicaCount: number): Formation {
    return new Formation({
      ...{ replica, replicaCount, start },
      send: (to, starts) => this.#told.push({ from: replica, to, starts: [...starts] }),
      isEmpty: () => this.#isEmpty[replica] === true,
      formed: () => this.formed.push(replica),
    });
  }

  /** It lost its directory and started anew. */
  lose(replica: number, start: number): void {
    this.#isEmpty[replica] = true;
    this.#formations[replica] = this.#start(replica, start, this.#formations.length);
  }

  /** The others took it in. */
  takeIn(replica: number): void {
    this.#isEmpty[replica] = false;
  }

  isOpen(replica: number): boolean {
    return this.#formations[replica]?.isOpen === true;
  }

  /** Everybody who waits says so, and all that is said arrives, but for what `isLost` names. */
  talk(isLost: (told: Told) => boolean = () => false): void {
    for (const one of this.#formations) if (one.isOpen) one.tell();
    for (let told = this.#told.shift(); told !== undefined; told = this.#told.shift()) {
      if (!isLost(told)) this.#formations[told.to]?.onStarts(told.from, told.starts);
    }
  }
}

describe("The forming of a cluster", () => {
  it("ends when every node has started with an empty directory, once on each.", () => {
    const nodes = new Nodes([11, 12, 13]);
    for (let times = 0; times < 3; times += 1) nodes.talk();
    assert.deepEqual(nodes.formed.toSorted(), [0, 1, 2]);
  });

  it("lets in whoever was among them and missed it, and nobody who came later.", () => {
    const nodes = new Nodes([11, 12, 13]);
    nodes.talk(({ to }) => to === 2);
    assert.deepEqual(nodes.formed.toSorted(), [0, 1]);
    nodes.talk();
    assert.deepEqual(nodes.formed.toSorted(), [0, 1, 2]);
    nodes.lose(1, 99);
    for (let times = 0; times < 3; times += 1) nodes.talk();
    assert.equal(nodes.formed.length, 3);
    assert.equal(nodes.isOpen(1), true);
  });

  it("does not happen where a node holds something, or was given it since.", () => {
    const nodes = new Nodes([0, 0, 0]);
    for (const lost of [0, 1, 2]) {
      nodes.lose(lost, 10 + lost);
      nodes.talk();
      nodes.talk();
      nodes.takeIn(lost);
      assert.equal(nodes.isOpen(lost), false);
    }
    assert.deepEqual(nodes.formed, []);
  });

  it("does not count a node that was empty once, when it says that it is not any more.", () => {
    const nodes = new Nodes([11, 12, 0]);
    nodes.talk();
    nodes.takeIn(1);
    nodes.talk();
    nodes.lose(2, 13);
    for (let times = 0; times < 3; times += 1) nodes.talk();
    assert.deepEqual(nodes.formed, []);
  });
});
