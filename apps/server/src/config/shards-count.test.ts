import assert from "node:assert/strict";
import { test } from "node:test";
import { isCodedError } from "@millrace/errors";
import { splitMemory } from "../shards/split-memory.ts";
import { loadConfig } from "./load-config.ts";
import { shardsCount } from "./shards-count.ts";

const MIB = 1024 * 1024;

async function countOf(allocation: string, cores: number, pool = "1 GiB") {
  const environment = { MILLRACE_SHARDING_CPU_ALLOCATION: allocation, MILLRACE_MEMORY_POOL_SIZE: pool };
  return shardsCount((await loadConfig({ environment })).config, cores);
}

test("All cores get a shard, one or two of them one together; a number and a range say how many.", async () => {
  assert.deepEqual(await countOf("all", 1), { count: 1, note: undefined });
  assert.deepEqual(await countOf("all", 2), { count: 1, note: undefined });
  assert.deepEqual(await countOf("all", 4), { count: 4, note: undefined });
  assert.deepEqual(await countOf("2", 1), { count: 2, note: undefined });
  assert.deepEqual(await countOf("5..8", 16), { count: 3, note: undefined });
});

test("numa is all, with a note; all is no more than the message memory has room for, with a note.", async () => {
  const numa = await countOf("numa:auto", 4);
  assert.equal(numa.count, 4);
  assert.match(numa.note ?? "", /treated as "all"/);
  const many = await countOf("all", 32, "512 MiB");
  assert.equal(many.count, 4);
  assert.match(many.note ?? "", /4 shards run on 32 cores/);
});

test("A text that is none of these, no shard, too many and more than the memory has room for are refused.", async () => {
  for (const [allocation, pool, pattern] of [
    ["most", "1 GiB", /is "most"; it is all, a number/],
    ["0", "1 GiB", /not 1 to 64/],
    ["8..8", "1 GiB", /not 1 to 64/],
    ["65", "1 GiB", /not 1 to 64/],
    ["2", "128 MiB", /memory_pool\.size has room for 1/],
  ] as const) {
    const isRefusal = (error: unknown) => isCodedError(error) && pattern.test(error.message);
    await assert.rejects(countOf(allocation, 4, pool), isRefusal, allocation);
  }
});

test("Half of the memory is shard 0's, the rest is shared out in whole blocks that nobody else has.", () => {
  const memory = { blocksStart: 65_536, end: 65_536 + 10 * MIB };
  assert.deepEqual(splitMemory(memory, 1), [{ position: 65_536, length: 10 * MIB }]);
  assert.deepEqual(splitMemory(memory, 3), [
    { position: 65_536, length: 5 * MIB },
    { position: 65_536 + 5 * MIB, length: 2 * MIB },
    { position: 65_536 + 7 * MIB, length: 2 * MIB },
  ]);
});
