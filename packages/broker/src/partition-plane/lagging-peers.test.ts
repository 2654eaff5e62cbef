import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LaggingPeers } from "./lagging-peers.ts";

const prepareOk = (op: number) =>
  ({ kind: "prepareOk", view: 1, op, prepareChecksum: 1n, replica: 2 }) as const;

describe("What a replica knows of those that are far behind", () => {
  it("begins with a request for an op that lies a pipeline back, and with nothing else.", () => {
    const lagging = new LaggingPeers();
    const own = { op: 1000, ticks: 0 };
    assert.equal(lagging.isFarBehind(2, own), false, "nothing is known");
    lagging.hears(2, prepareOk(10), own);
    assert.equal(lagging.isFarBehind(2, own), false, "an old acknowledgement says nothing");
    assert.equal(lagging.asks(2, 873, own), false);
    assert.equal(lagging.isFarBehind(2, own), false);
    assert.equal(lagging.asks(2, 872, own), true);
    assert.equal(lagging.isFarBehind(2, own), true);
    assert.equal(lagging.isFarBehind(1, own), false);
  });

  it("ends when the replica comes near, by what it asks for or acknowledges.", () => {
    for (const comesNear of [
      (lagging: LaggingPeers) => lagging.hears(2, prepareOk(873), { op: 1000, ticks: 1 }),
      (lagging: LaggingPeers) => lagging.asks(2, 950, { op: 1000, ticks: 1 }),
    ]) {
      const lagging = new LaggingPeers();
      lagging.asks(2, 5, { op: 1000, ticks: 0 });
      lagging.hears(2, prepareOk(500), { op: 1000, ticks: 1 });
      assert.equal(lagging.isFarBehind(2, { op: 1000, ticks: 1 }), true);
      comesNear(lagging);
      assert.equal(lagging.isFarBehind(2, { op: 1000, ticks: 1 }), false);
    }
  });

  it("is believed for ten seconds, and again from each word on.", () => {
    const lagging = new LaggingPeers();
    lagging.asks(2, 5, { op: 1000, ticks: 0 });
    lagging.hears(2, prepareOk(500), { op: 1000, ticks: 900 });
    assert.equal(lagging.isFarBehind(2, { op: 1000, ticks: 1900 }), true);
    assert.equal(lagging.isFarBehind(2, { op: 1000, ticks: 1901 }), false);
  });

  it("lets the replica be told how far there is to go each 50 ms.", () => {
    const lagging = new LaggingPeers();
    const tells: number[] = [];
    for (let ticks = 0; ticks < 12; ticks += 1) {
      const own = { op: 1000, ticks };
      lagging.asks(2, 5, own);
      if (lagging.mayTell(2, own)) tells.push(ticks);
    }
    assert.deepEqual(tells, [0, 5, 10]);
  });
});
