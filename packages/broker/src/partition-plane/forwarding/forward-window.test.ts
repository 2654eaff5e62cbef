import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ClientConnection } from "../../sessions/client-connection.ts";
import { ForwardWindow } from "./forward-window.ts";

const LIMITS = { heldAboveCount: 2, heldAboveLength: 100, countMax: 4, lengthMax: 200 };

/** Counts how often it is held. */
function connection() {
  const counted = { holds: 0, hold: () => (counted.holds += 1), unhold: () => (counted.holds -= 1) };
  return { counted, holder: counted as unknown as ClientConnection };
}

describe("The window of operations on their way to other nodes", () => {
  it("holds a connection that brings one more than there should be, until some are answered.", () => {
    const window = new ForwardWindow(LIMITS);
    const { counted, holder } = connection();
    const holds: number[] = [];
    for (let count = 0; count < 4; count += 1) {
      assert.equal(window.begin(1, holder), true);
      holds.push(counted.holds);
    }
    window.end(1);
    holds.push(counted.holds);
    window.end(1);
    holds.push(counted.holds);
    assert.deepEqual(holds, [0, 0, 1, 2, 2, 0]);
  });

  it("holds a connection for many bytes, too.", () => {
    const window = new ForwardWindow(LIMITS);
    const { counted, holder } = connection();
    window.begin(101, holder);
    assert.equal(counted.holds, 1);
    window.end(101);
    assert.equal(counted.holds, 0);
  });

  it("has no room for more than the most, but for one that is longer than all.", () => {
    const window = new ForwardWindow(LIMITS);
    assert.equal(window.begin(1000, undefined), true);
    assert.equal(window.begin(1, undefined), false);
    window.end(1000);
    for (let count = 0; count < 4; count += 1) assert.equal(window.begin(1, undefined), true);
    assert.equal(window.begin(1, undefined), false);
  });
});
