import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimClock } from "@millrace/platform/sim";
import { MajorityExecution } from "./majority-execution.ts";

/** One of three nodes; what it asks is counted, and answered by `tell`. */
function asking() {
  const clock = new SimClock();
  const asked: ((from: number, commit: number) => void)[] = [];
  const executed = new MajorityExecution({
    ...{ clock, quorum: 2, timeoutMs: 1000 },
    ask: (heard) => void asked.push(heard),
  });
  return { clock, asked, executed, tell: (from: number, commit: number) => asked.at(-1)?.(from, commit) };
}

describe("What the other nodes have executed", () => {
  it("is asked in one question, however many operations wait, and again while they do.", async () => {
    const { clock, asked, executed, tell } = asking();
    const all = [1, 2, 3, 4, 5].map((op) => executed.of(op));
    assert.equal(asked.length, 1, "the first is asked about at once");
    await clock.run(10);
    assert.equal(asked.length, 2, "those that came then are asked about together");
    await clock.run(100);
    assert.equal(asked.length, 3, "nobody answered");
    tell(1, 4);
    assert.deepEqual(await Promise.all(all.slice(0, 4)), [true, true, true, true]);
    await clock.run(100);
    tell(2, 5);
    assert.equal(await all[4], true);
    const count = asked.length;
    await clock.run(1000);
    assert.equal(asked.length, count, "nothing is asked when nothing waits");
  });

  it("is not known when nobody answers in time, or when this node stops.", async () => {
    const { clock, executed } = asking();
    const first = executed.of(1);
    await clock.run(500);
    const second = executed.of(2);
    await clock.run(600);
    assert.equal(await first, false);
    executed.stop();
    assert.equal(await second, false);
    assert.equal(await executed.of(3), false);
  });
});
