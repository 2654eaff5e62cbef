import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Bench } from "./partition-fixture.test.ts";

/** A partition in which nothing is committed, with room for two consumers. */
async function uncommitted(): Promise<Bench> {
  const bench = await Bench.open({ consumerOffsetsMax: 2, isReplica: true });
  bench.commitMax = 0;
  await bench.append(["a", "b", "c"]);
  return bench;
}

describe("offsets that are stored and not committed", () => {
  it("are what the next op is judged by, while readers see what is committed", async () => {
    const bench = await uncommitted();
    const { partition } = bench;
    await bench.storeOffset(1, 7, 2);
    await bench.storeOffset(2, 7, 1);
    assert.equal(partition.acceptedConsumerOffset(1, 7), 2);
    assert.equal(partition.acceptedConsumerOffset(2, 7), 1, "a group of that number is another");
    assert.equal(partition.consumerOffset(1, 7), undefined);
    await bench.storeOffset(1, 7, 0);
    assert.equal(partition.acceptedConsumerOffset(1, 7), 0);
    await bench.deleteOffset(1, 7);
    assert.equal(partition.acceptedConsumerOffset(1, 7), undefined);
    partition.commit(3);
    assert.equal(partition.consumerOffset(1, 7), 2);
    await bench.close();
  });

  it("are gone behind a purge", async () => {
    const bench = await uncommitted();
    await bench.storeOffset(1, 7, 2);
    bench.partition.commit(2);
    await bench.purge();
    assert.equal(bench.partition.acceptedConsumerOffset(1, 7), undefined);
    assert.equal(bench.partition.consumerOffset(1, 7), 2);
    assert.equal(bench.partition.committedPurgeGeneration, 0);
    bench.partition.commit(3);
    assert.equal(bench.partition.committedPurgeGeneration, 1);
    await bench.close();
  });

  it("count when there is to be room for one more, and deletions make room", async () => {
    const bench = await uncommitted();
    const { partition } = bench;
    await bench.storeOffset(1, 1, 0);
    await bench.storeOffset(1, 2, 0);
    await bench.storeOffset(1, 2, 1);
    assert.equal(partition.mayStoreConsumerOffset(1, 3), false);
    assert.equal(partition.mayStoreConsumerOffset(1, 1), true);
    assert.equal(partition.mayStoreConsumerOffset(2, 3), true);
    await bench.deleteOffset(1, 1);
    assert.equal(partition.mayStoreConsumerOffset(1, 3), true);
    await bench.close();
  });
});
