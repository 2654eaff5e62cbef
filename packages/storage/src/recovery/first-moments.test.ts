import assert from "node:assert/strict";
import { it } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { SeededRandom } from "@millrace/testkit";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, PATH } from "../partition/partition-fixture.test.ts";

const SEEDS = 200;
/** Turns that a call to the disk takes at most. */
const TURNS_MAX = 80;

it("A replica that loses power in its first moments has no messages without the record in front of them.", async () => {
  let kept = 0;
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new SeededRandom(seed);
    const inTurns = (left: number, done: () => void) =>
      left === 0 ? done() : queueMicrotask(() => inTurns(left - 1, done));
    const schedule = (done: () => void) => inTurns(1 + random.below(TURNS_MAX), done);
    const disk = new SimDisk({ seed, schedule });
    await disk.makeDirectory(PATH);
    await syncUpwards(disk, PATH);
    const bench = await Bench.open({ isReplica: true, tailLengthMax: 0, disk });
    const appended = Promise.all(["one", "two", "three"].map((text) => bench.append([text])));
    if (seed % 2 === 0) await appended;
    else void appended.catch(() => undefined);
    bench.disk = bench.disk.crash();
    await bench.abandon();
    await bench.open({ isLossKnown: true });
    assert.equal(bench.partition.fault, undefined, `seed ${seed}`);
    kept += bench.partition.committedNextOffset;
    await bench.close();
  }
  assert.ok(kept > 0, "some kept messages");
});
