import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { baseOffsetAt, batchChecksumAt } from "@millrace/framing";
import { Bench, kernel, name } from "../partition/partition-fixture.test.ts";

/** Three segments of batches with a stored offset between them. */
async function filled(): Promise<Bench> {
  const bench = await Bench.open({ segmentLengthMax: 4000 });
  bench.isNumbered = true;
  for (let at = 0; at < 30; at += 1) {
    if (at % 5 === 4) await bench.storeOffset(1, 7, at);
    else await bench.append([`${at} `.repeat(60)]);
  }
  return bench;
}

/** What an op is known by: its place in the messages, or its body. */
async function factsOf(bench: Bench, op: number) {
  const prepare = await bench.partition.readPrepare(op);
  if (prepare === undefined) return undefined;
  const { header, batchLease, body, isNumbered } = prepare;
  const at = batchLease?.position ?? 0;
  const batch = batchLease && {
    length: batchLease.length,
    baseOffset: baseOffsetAt(kernel.memory.view, at),
    checksum: batchChecksumAt(kernel.memory.view, at),
  };
  batchLease?.release();
  return { header, batch, body: [...body], isNumbered };
}

describe("an op read back for another replica", () => {
  it("is what was journaled, in any order, with its batch or its body", async () => {
    const bench = await filled();
    const forwards = [];
    for (let op = 1; op <= 30; op += 1) forwards.push(await factsOf(bench, op));
    const backwards = [];
    for (let op = 30; op >= 1; op -= 1) backwards.unshift(await factsOf(bench, op));
    assert.deepEqual(backwards, forwards);
    assert.ok(bench.partition.segmentCount > 2, "the ops lie in several segments");
    let nextOffset = 0;
    for (const [index, facts] of forwards.entries()) {
      assert.equal(facts?.header.op, index + 1);
      assert.equal(facts.header.request, BigInt(index + 1));
      assert.equal(facts.isNumbered, true);
      const isOffset = index % 5 === 4;
      assert.deepEqual(facts.body.length, isOffset ? 13 : 0);
      if (isOffset) continue;
      assert.equal(facts.batch?.baseOffset, nextOffset);
      nextOffset += 1;
    }
    await bench.close();
  });

  it("is the same after a restart", async () => {
    const bench = await filled();
    const before = await factsOf(bench, 17);
    await bench.reopen();
    assert.deepEqual(await factsOf(bench, 17), before);
    await bench.close();
  });

  it("is nothing when it is not journaled, or no longer kept", async () => {
    const bench = await filled();
    assert.equal(await factsOf(bench, 0), undefined);
    assert.equal(await factsOf(bench, 31), undefined);
    await bench.truncate(12);
    await bench.partition.filesRemoved();
    assert.equal(await factsOf(bench, 1), undefined);
    assert.equal((await factsOf(bench, 31))?.header.operation, 68);
    await bench.close();
  });

  it("answers damage with the file and the position", async () => {
    for (const kind of ["log", "ops"] as const) {
      const bench = await filled();
      await bench.close();
      const bytes = await bench.fileBytes(name(0, kind));
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await bench.setFile(name(0, kind), bytes);
      await bench.open();
      const found = [];
      for (let op = 1; op <= 30; op += 1) {
        found.push(await factsOf(bench, op).catch((error: unknown) => isDamage(error, name(0, kind))));
      }
      assert.ok(found.includes(true), `damage of the ${kind} is told`);
      assert.equal(found.includes(undefined), false);
      await bench.close();
    }
  });
});

function isDamage(error: unknown, file: string): true {
  if (!isCodedError(error, ErrorCode.PartitionDamaged)) throw error;
  assert.ok(String(error.details["path"]).endsWith(file));
  assert.equal(typeof error.details["position"], "number");
  return true;
}
