import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTopic, sendBatch } from "../oracle/fabricated-history.ts";
import type { SentBatch } from "../oracle/sent-batches.ts";
import type { Change } from "./damage.ts";
import { expectOfSegment } from "./expectation.ts";
import type { SegmentContent } from "./segment-content.ts";

/** A sealed and an active segment of four batches each; a batch of one message has 356 bytes. */
function segments(): { readonly all: SegmentContent[]; readonly batches: SentBatch[] } {
  const topic = emptyTopic();
  const batches = Array.from({ length: 8 }, () => sendBatch(topic, 1));
  const part = (name: string, from: number, isActive: boolean) => ({
    name,
    isActive,
    batches: batches.slice(from, from + 4).map((batch, index) => ({ batch, position: index * batch.length })),
  });
  return { all: [part("0", 0, false), part("4", 4, true)], batches };
}

function expectOf(file: string, change: Change) {
  const { all, batches } = segments();
  const expectation = expectOfSegment({ path: `p/${file}`, change, fileLength: 4 * 356 }, all);
  const indexes = (set: ReadonlySet<SentBatch>) => [...set].map((batch) => batches.indexOf(batch));
  return { ...expectation, mayRefuse: indexes(expectation.mayRefuse), mayLose: indexes(expectation.mayLose) };
}

test("a changed or cut log costs the batches that were hit, and only the active one's end may pass for torn", () => {
  const flip = (position: number): Change => ({ kind: "flip", position, bit: 0 });
  assert.deepEqual(expectOf("0.log", flip(356)).mayRefuse, [1]);
  assert.deepEqual(expectOf("0.log", flip(4 * 356 - 1)).mayLose, []);
  assert.deepEqual(expectOf("4.log", flip(0)).mayLose, []);
  assert.deepEqual(expectOf("4.log", flip(4 * 356 - 1)).mayLose, [7]);
  const cut = expectOf("4.log", { kind: "cut", length: 2 * 356 + 1 });
  assert.deepEqual(
    [cut.mayRefuse, cut.mayLose],
    [
      [6, 7],
      [6, 7],
    ],
  );
  const removed = expectOf("0.log", { kind: "remove" });
  assert.deepEqual([removed.mayRefuse, removed.mayLose], [[0, 1, 2, 3], []]);
});

test("sealed records and indexes cost nothing, active records a batch for each", () => {
  for (const file of ["0.ops", "0.index", "4.index"]) {
    assert.deepEqual(expectOf(file, { kind: "remove" }).mayRefuse, [], file);
  }
  const cut = expectOf("4.ops", { kind: "cut", length: 4 * 356 - 129 });
  assert.deepEqual([cut.refusedMax, cut.mayLose], [2, [6, 7]]);
  assert.deepEqual(expectOf("4.ops", { kind: "remove" }).mayLose, []);
});
