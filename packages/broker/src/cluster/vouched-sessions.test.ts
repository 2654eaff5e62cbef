import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Look, VouchedSessions } from "./vouched-sessions.ts";

const INTERVAL_MS = 10;
const GRACE_MS = 100;
const one = { client: 1n, session: 10 };
const other = { client: 2n, session: 20 };
const LOOK = { view: 1, sessions: [one, other], connected: [] };

/** The primary of three, which hears node 1 and looks at each interval until then. */
function lookUntil(vouched: VouchedSessions, fromMs: number, toMs: number, look: Partial<Look> = {}): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += INTERVAL_MS) {
    vouched.heard(1, [], nowMs);
    vouched.look({ ...LOOK, ...look, nowMs });
  }
}

function following(): VouchedSessions {
  const vouched = new VouchedSessions({ replicaCount: 3, intervalMs: INTERVAL_MS });
  lookUntil(vouched, 0, 0);
  return vouched;
}

describe("Sessions that nodes vouch for", () => {
  it("are silent once nobody has vouched for them for the whole time, counted from the first look", () => {
    const vouched = following();
    lookUntil(vouched, 10, 100);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 99), []);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 100), [one, other]);
  });

  it("stay as long as anybody goes on vouching, whichever node that is", () => {
    const vouched = following();
    lookUntil(vouched, 10, 60);
    vouched.heard(1, [one], 65);
    lookUntil(vouched, 70, 120, { connected: [one] });
    lookUntil(vouched, 130, 180);
    vouched.heard(2, [one], 185);
    lookUntil(vouched, 190, 280);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 280), [other]);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 285), [one, other]);
  });

  it("of a newer login have their own time, and what is said about another login does not help them", () => {
    const vouched = following();
    const newer = { client: 2n, session: 21 };
    lookUntil(vouched, 10, 50);
    lookUntil(vouched, 60, 100, { sessions: [one, newer] });
    vouched.heard(2, [other, { client: 1n, session: 11 }], 100);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 100), [one]);
    lookUntil(vouched, 110, 160, { sessions: [one, newer] });
    assert.deepEqual(vouched.silentFor(GRACE_MS, 160), [one, newer]);
  });

  it("are followed no longer than they exist, and nothing is kept of those that do not", () => {
    const vouched = following();
    vouched.heard(1, [{ client: 3n, session: 30 }], 5);
    lookUntil(vouched, 10, 10, { sessions: [other] });
    assert.equal(vouched.count, 1);
    assert.deepEqual(vouched.silentFor(0, 20), [other]);
  });

  it("have their whole time anew in a view that is new", () => {
    const vouched = following();
    lookUntil(vouched, 10, 90);
    lookUntil(vouched, 100, 190, { view: 4 });
    assert.deepEqual(vouched.silentFor(GRACE_MS, 199), []);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 200), [one, other]);
  });

  it("have their whole time anew when the primary stood still, whatever it heard meanwhile", () => {
    const vouched = following();
    vouched.heard(1, [], 120);
    vouched.look({ ...LOOK, nowMs: 120 });
    assert.deepEqual(vouched.silentFor(GRACE_MS, 120), []);
  });

  it("are not silent while too few nodes are heard to decide anything, and have their time anew then", () => {
    const vouched = following();
    for (let nowMs = 10; nowMs <= 300; nowMs += INTERVAL_MS) vouched.look({ ...LOOK, nowMs });
    assert.deepEqual(vouched.silentFor(GRACE_MS, 300), []);
    lookUntil(vouched, 310, 390);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 390), []);
    lookUntil(vouched, 400, 410);
    assert.deepEqual(vouched.silentFor(GRACE_MS, 410), [one, other]);
  });
});
