import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createNodeCipher } from "@millrace/platform/node";
import { SimRandom } from "@millrace/platform/sim";
import { SeededRandom } from "@millrace/testkit";
import { Bench, type BenchOptions } from "../partition/partition-fixture.test.ts";
import type { ClientsRequest, RememberedRequest } from "./remembered-request.ts";
import { RequestMemory } from "./request-memory.ts";

function request(client: bigint, number: bigint, user = 0): ClientsRequest {
  const facts = { operation: 160, op: Number(number), timestamp: 1, baseOffset: 0, count: 1, length: 305 };
  return { client, user, request: { number, ...facts, checksum: 5n } };
}

describe("a request memory", () => {
  it("keeps clients and users apart", () => {
    const memory = new RequestMemory();
    memory.note(request(1n, 5n));
    memory.note(request(1n, 6n, 1));
    memory.note(request(2n ** 128n - 1n, 7n, 2 ** 32 - 1));
    assert.equal(memory.find(1n, 0, 5n)?.number, 5n);
    assert.equal(memory.find(1n, 1, 5n), undefined);
    assert.equal(memory.find(1n, 1, 6n)?.number, 6n);
    assert.equal(memory.find(2n ** 128n - 1n, 2 ** 32 - 1, 7n)?.number, 7n);
    assert.equal(memory.find(0n, 0, 5n), undefined);
    memory.clear();
    assert.equal(memory.find(1n, 0, 5n), undefined);
    assert.equal(memory.count, 0);
  });

  it("keeps the 128 latest of a client, and forgets the client that was silent longest", () => {
    const memory = new RequestMemory(2);
    for (let number = 1n; number <= 200n; number++) memory.note(request(1n, number));
    memory.note(request(1n, 200n));
    assert.equal(memory.count, 128);
    assert.equal(memory.find(1n, 0, 72n), undefined);
    assert.equal(memory.find(1n, 0, 73n)?.number, 73n);
    memory.note(request(2n, 1n));
    memory.note(request(1n, 201n));
    memory.note(request(3n, 1n));
    assert.deepEqual(
      [1n, 2n, 3n].map((client) => memory.find(client, 0, 1n) !== undefined),
      [false, false, true],
    );
    assert.equal(memory.find(1n, 0, 201n)?.number, 201n);
    assert.equal(memory.count, 129);
  });

  it("is bounded over all clients, and remembers nothing when it may not", () => {
    const memory = new RequestMemory(4096);
    for (let client = 1n; client <= 600n; client++) {
      for (let number = 1n; number <= 128n; number++) memory.note(request(client, number));
    }
    assert.equal(memory.count, 65_536);
    assert.equal(memory.find(88n, 0, 128n), undefined);
    assert.ok(memory.find(89n, 0, 1n));
    const none = new RequestMemory(0);
    none.note(request(1n, 1n));
    assert.deepEqual([none.count, none.find(1n, 0, 1n)], [0, undefined]);
  });

  it("is the same again when all it holds is noted in order", () => {
    const random = new SeededRandom(3);
    const [memory, again] = [new RequestMemory(5), new RequestMemory(5)];
    for (let step = 0; step < 500; step += 1) {
      memory.note(request(BigInt(random.below(8)), BigInt(random.below(300))));
    }
    for (const one of memory.all()) again.note(one);
    assert.deepEqual([...again.all()], [...memory.all()]);
    assert.equal(again.count, memory.count);
  });
});

describe("a partition's memory of requests", () => {
  const remembered = (bench: Bench, number: number) => {
    const { client, user } = bench.header(160);
    return bench.partition.rememberedRequest(client, user, BigInt(number));
  };

  /** Sends batches and offsets, ends the process in every way in between, over several segments. */
  async function course(options: BenchOptions, step: (bench: Bench) => Promise<void>): Promise<void> {
    const bench = await Bench.open({ segmentLengthMax: 3000, ...options });
    const random = new SeededRandom(8);
    const known = new Map<number, RememberedRequest | undefined>();
    for (let round = 0; round < 120; round += 1) {
      const isNumbered = random.fraction() < 0.8;
      const number = bench.partition.lastOp + 1;
      bench.isNumbered = isNumbered;
      if (random.fraction() < 0.7) await bench.append(["x".repeat(random.below(400))]);
      else await bench.storeOffset(1, random.below(5), 0);
      const request = remembered(bench, number);
      assert.equal(request !== undefined, isNumbered, `op ${number}`);
      known.set(number, request);
      if (random.fraction() < 0.1) await bench.purge();
      if (random.fraction() < 0.2) await step(bench);
      for (const [one, expected] of known) assert.deepEqual(remembered(bench, one), expected, `op ${one}`);
      if (known.size > 100) break;
    }
    await bench.close();
  }

  it("survives stops, kills, new segments and purges", async () => {
    let turn = 0;
    await course({}, async (bench) => {
      turn += 1;
      await (turn % 2 === 0 ? bench.reopen() : bench.kill());
    });
    assert.ok(turn > 5);
  });

  it("does the same in an encrypted partition, where it tells nothing of what batches hold", async () => {
    const cipher = createNodeCipher(new Uint8Array(32), new SimRandom(1));
    await course({ cipher }, async (bench) => {
      await (bench.partition.lastOp % 2 === 0 ? bench.reopen() : bench.kill());
      const batches = [...Array(bench.partition.lastOp).keys()]
        .map((number) => remembered(bench, number))
        .filter((request) => request?.operation === 160);
      assert.ok(batches.every((request) => request?.checksum === undefined));
    });
  });
});
