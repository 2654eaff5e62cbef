import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Clock } from "@millrace/platform";
import { PartitionTurns } from "./partition-turns.ts";

const REFUSED_MS = 30_000;

function refusal(): CodedError {
  const cause = new CodedError(ErrorCode.TransientNotAccepted);
  return new CodedError(ErrorCode.RequestTimeout, "refused", { cause });
}

/** What a consumer spends of two hours on refusals when the first of its partitions are refused. */
async function spentOnRefusals(partitionsCount: number, refusedCount: number): Promise<number> {
  let [nowMs, spentMs, toldCount] = [0, 0, 0];
  const clock = { monotonicMs: () => nowMs } as Clock;
  const turns = new PartitionTurns(clock, () => {
    toldCount += 1;
  });
  const ones = Array.from({ length: partitionsCount }, (_, partitionId) => ({ partitionId }));
  const asked = new Set<number>();
  while (nowMs < 7_200_000) {
    const { partitionId } = turns.next(ones) ?? assert.fail();
    asked.add(partitionId);
    await turns.unlessRefused(partitionId, async () => {
      const isRefused = partitionId < refusedCount;
      nowMs += isRefused ? REFUSED_MS : 5;
      if (!isRefused) return;
      spentMs += REFUSED_MS;
      throw refusal();
    });
  }
  assert.ok(toldCount > 0 || refusedCount === 0);
  // Two hours are time for 120 refusals.
  assert.equal(asked.size, partitionsCount, "none is passed by for ever");
  return spentMs / nowMs;
}

test("Partitions that are refused cost the others half of the time at most, however many they are.", async () => {
  for (const [partitionsCount, refusedCount] of [
    [3, 1],
    [3, 2],
    [12, 4],
    [12, 11],
  ] as const) {
    const spent = await spentOnRefusals(partitionsCount, refusedCount);
    assert.ok(spent <= 0.55, `${refusedCount} of ${partitionsCount}: ${spent}`);
  }
  assert.equal(await spentOnRefusals(3, 0), 0);
});

test("One that is well again is read, however long another one is refused, whatever their order.", async () => {
  for (const [refused, mended] of [
    [0, 1],
    [1, 0],
    [0, 2],
    [2, 0],
  ] as const) {
    let nowMs = 0;
    const turns = new PartitionTurns({ monotonicMs: () => nowMs } as Clock, () => {});
    const ones = [0, 1, 2].map((partitionId) => ({ partitionId }));
    const asked = [0, 0, 0];
    while (nowMs < 3_600_000) {
      const { partitionId } = turns.next(ones) ?? assert.fail();
      await turns.unlessRefused(partitionId, async () => {
        const isRefused = partitionId === refused || (partitionId === mended && nowMs < 120_000);
        nowMs += isRefused ? REFUSED_MS : 5;
        if (!isRefused) asked[partitionId] = (asked[partitionId] ?? 0) + 1;
        else throw refusal();
      });
    }
    assert.ok((asked[mended] ?? 0) > 100_000, `${refused} and ${mended}: ${asked}`);
  }
});

test("Where all are refused each is asked in its turn, without a rest.", async () => {
  assert.equal(await spentOnRefusals(2, 2), 1);
});

test("There is no turn without partitions.", () => {
  assert.equal(new PartitionTurns({ monotonicMs: () => 0 } as Clock, () => {}).next([]), undefined);
});
