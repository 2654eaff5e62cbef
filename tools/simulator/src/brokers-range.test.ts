import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { BrokersRange } from "./brokers-range.ts";

const PLAYED = { rolls: 30, rollLosses: 2, trims: 4, trimmed: 50, autoCommits: 60 };
const END = {
  ...{ lines: [], acknowledged: 3, operations: 200, faults: 20, ticks: 10_000, simulatedMs: 0 },
  ...PLAYED,
};

test("histories of whole brokers are summed up, and one that breaks a promise is named", async (context) => {
  const log = context.mock.method(console, "log", () => {});
  const play = mock.fn(async (seed: number) => {
    if (seed === 2) throw new Error("seed 2: lost");
    return END;
  });
  const range = new BrokersRange({ isTraced: false }, play);
  for (const seed of [1, 2, 3]) await range.run(seed);
  assert.equal(range.failed, 1);
  assert.deepEqual(range.lines(), [
    "20000 ticks with faults, 6 messages acknowledged",
    "60 segments rolled, 4 losses behind that, 8 deletions of segments, 100 messages gone with them, 120 polls of members with auto-commit",
    "400 operations, 40 faults",
  ]);
  assert.equal(log.mock.callCount(), 1);
  assert.match(String(log.mock.calls[0]?.arguments[0]), /^VIOLATION with --brokers --seed 2: .*seed 2: lost/);
});

test("a trace shows a history as it comes", async (context) => {
  const log = context.mock.method(console, "log", () => {});
  const play = async (_seed: number, note?: (line: string) => void) => {
    note?.("0.000 n1 killed");
    return END;
  };
  for (const isTraced of [false, true]) await new BrokersRange({ isTraced }, play).run(1);
  assert.deepEqual(log.mock.calls.map(({ arguments: [line] }) => line), ["0.000 n1 killed"]); // biome-ignore format: one line
});
