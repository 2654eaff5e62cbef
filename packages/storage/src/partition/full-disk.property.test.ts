import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import fc from "fast-check";
import { Bench, PATH, type Seen } from "./partition-fixture.test.ts";

type Step =
  | { readonly kind: "append"; readonly lengths: readonly number[] }
  | { readonly kind: "fill"; readonly room: number }
  | { readonly kind: "free" }
  | { readonly kind: "resume" }
  | { readonly kind: "truncate"; readonly segments: number }
  | { readonly kind: "purge" }
  | { readonly kind: "reopen" }
  | { readonly kind: "kill" };

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      lengths: fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("fill" as const), room: fc.integer({ min: 0, max: 5000 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "free" as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: "resume" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("truncate" as const),
      segments: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "purge" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reopen" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "kill" as const }) },
);

async function usedLength(disk: SimDisk, path = ""): Promise<number> {
  let sum = 0;
  for (const entry of await disk.readDirectory(path)) {
    const below = path === "" ? entry.name : `${path}/${entry.name}`;
    sum +=
      entry.kind === "directory" ? await usedLength(disk, below) : ((await disk.stat(below))?.length ?? 0);
  }
  return sum;
}

/** Removals are tried whatever is free; they take effect as a whole or are refused. */
async function remove(bench: Bench, acknowledged: Seen[], mark: number | undefined): Promise<void> {
  await bench.partition.resume(true);
  const removed = mark === undefined ? bench.purge() : bench.truncate(mark);
  const error: unknown = await removed.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error !== undefined) assert.ok(isCodedError(error, ErrorCode.DiskFull), String(error));
  else if (mark === undefined) acknowledged.length = 0;
  else acknowledged.splice(0, acknowledged.filter(({ offset }) => offset < mark).length);
}

async function run(bench: Bench, acknowledged: Seen[], step: Step): Promise<void> {
  if (step.kind === "append") {
    const texts = step.lengths.map((length, at) => `${acknowledged.length}-${at}`.padEnd(length, "."));
    const outcomes = await Promise.allSettled(texts.map((text) => bench.append([text])));
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") acknowledged.push({ offset: outcome.value, text: texts[at] ?? "" });
      else assert.ok(isCodedError(outcome.reason, ErrorCode.DiskFull), String(outcome.reason));
    }
  } else if (step.kind === "fill") bench.disk.setSpace((await usedLength(bench.disk)) + step.room);
  else if (step.kind === "free") bench.disk.setSpace(Number.POSITIVE_INFINITY);
  else if (step.kind === "resume") await bench.partition.resume();
  else if (step.kind === "purge") await remove(bench, acknowledged, undefined);
  else if (step.kind === "truncate") {
    const last = bench.partition.sealedSegments()[step.segments - 1];
    if (last !== undefined) await remove(bench, acknowledged, last.lastOffset + 1);
  } else if (step.kind === "reopen") await bench.reopen();
  else await bench.kill();
  assert.deepEqual(await bench.readAll(), acknowledged, `after ${step.kind}`);
}

describe("a partition on a disk that fills and empties", () => {
  it("has exactly what it acknowledged, and takes appends again once there is space", async () => {
    const setting = fc.record({
      segmentLengthMax: fc.constantFrom(1000, 5000, 1_000_000),
      seed: fc.integer(),
    });
    const property = fc.asyncProperty(
      fc.array(stepArbitrary, { maxLength: 30 }),
      setting,
      async (steps, options) => {
        const { segmentLengthMax, seed } = options;
        const bench = await Bench.open({
          segmentLengthMax,
          tailLengthMax: 2000,
          disk: new SimDisk({ seed }),
        });
        const acknowledged: Seen[] = [];
        for (const step of steps) await run(bench, acknowledged, step);
        bench.disk.setSpace(Number.POSITIVE_INFINITY);
        if (!(await bench.partition.resume())) await bench.reopen();
        const offset = await bench.append(["last"]);
        assert.deepEqual(await bench.readAll(), [...acknowledged, { offset, text: "last" }]);
        await bench.close();
        assert.ok((await bench.disk.stat(PATH)) !== undefined);
      },
    );
    await fc.assert(property, { numRuns: 80 });
  });
});
