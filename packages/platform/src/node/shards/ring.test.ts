import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRingBuffer, Ring } from "./ring.ts";

const recordOf = (length: number, fill: number) => new Uint8Array(length).fill(fill);

/** Everything that is in the ring, as text. */
function takeAll(ring: Ring): string[] {
  const taken: string[] = [];
  const take = (record: Uint8Array, hasMore: boolean) =>
    taken.push(`${record.length}x${record[0] ?? "-"}${hasMore ? "+" : ""}`);
  while (ring.shift(take)) {}
  return taken;
}

describe("Ring", () => {
  it("hands over records of any length up to its limit, in order, with the mark that more follows", () => {
    const ring = new Ring(createRingBuffer(256));
    assert.equal(ring.isEmpty, true);
    assert.ok(ring.push(recordOf(0, 0), false));
    assert.ok(ring.push(recordOf(1, 7), true));
    assert.ok(ring.push(recordOf(ring.recordLengthMax, 9), false));
    assert.equal(ring.isEmpty, false);
    assert.deepEqual(takeAll(ring), ["0x-", "1x7+", "64x9"]);
    assert.equal(ring.isEmpty, true);
  });

  it("refuses what finds no room and takes it once there is some", () => {
    const ring = new Ring(createRingBuffer(64));
    for (let count = 0; count < 4; count++) assert.ok(ring.push(recordOf(12, count), false));
    assert.equal(ring.push(recordOf(1, 9), false), false);
    assert.ok(ring.shift(() => {}));
    assert.ok(ring.push(recordOf(12, 4), false));
    assert.deepEqual(takeAll(ring), ["12x1", "12x2", "12x3", "12x4"]);
  });

  it("keeps every record whole over the end of the ring, whatever the lengths", () => {
    const ring = new Ring(createRingBuffer(128));
    let [pushed, taken] = [0, 0];
    for (let round = 0; round < 20_000; round++) {
      while (ring.push(recordOf((pushed * 7) % 33, pushed % 251), false)) pushed += 1;
      ring.shift((record) => {
        const expected = recordOf((taken * 7) % 33, taken % 251);
        assert.deepEqual(record, expected);
        taken += 1;
      });
    }
    assert.equal(taken, 20_000);
  });

  it("counts on when its counters go round", () => {
    const buffer = createRingBuffer(64);
    const control = new Int32Array(buffer, 0, 64);
    control[0] = control[16] = -16;
    const ring = new Ring(buffer);
    for (let count = 0; count < 10; count++) {
      assert.ok(ring.push(recordOf(12, count), false));
      assert.ok(ring.push(recordOf(12, count), false));
      assert.deepEqual(takeAll(ring), [`12x${count}`, `12x${count}`]);
    }
    assert.equal(control[0], 10 * 32 - 16);
  });

  it("tells once that its reader sleeps and once that its writer wants room", () => {
    const ring = new Ring(createRingBuffer(64));
    assert.deepEqual([ring.takeSleep(), ring.takeWantsRoom()], [false, false]);
    ring.fallAsleep();
    ring.wantRoom();
    assert.deepEqual([ring.takeSleep(), ring.takeSleep()], [true, false]);
    assert.deepEqual([ring.takeWantsRoom(), ring.takeWantsRoom()], [true, false]);
  });
});
