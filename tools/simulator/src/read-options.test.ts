import assert from "node:assert/strict";
import { test } from "node:test";
import { readOptions } from "./read-options.ts";

test("seeds are a number or a range, and without them some fresh ones are taken", () => {
  assert.deepEqual(readOptions(["--seed", "7"]), {
    from: 7,
    to: 7,
    replicas: undefined,
    ticks: undefined,
    mutation: undefined,
    isOutcomeOnly: false,
    isTraced: false,
    isOfBrokers: false,
    minutes: Number.POSITIVE_INFINITY,
    workers: 1,
  });
  const { from, to } = readOptions(["--seeds", "5..900"]) ?? {};
  assert.deepEqual([from, to], [5, 900]);
  const fresh = readOptions([]);
  assert.equal((fresh?.to ?? 0) - (fresh?.from ?? 0), 39);
  assert.equal(readOptions(["--brokers", "--seed", "7"])?.isOfBrokers, true);
  assert.equal(readOptions(["--help"]), undefined);
});

test("wrong arguments are refused by name", () => {
  assert.throws(() => readOptions(["--seeds", "9..5"]), /9\.\.5 is no seed and no range/);
  assert.throws(() => readOptions(["--seed", "-1"]), /--seed|seed/);
  assert.throws(() => readOptions(["--replicas", "8"]), /--replicas 8 is no number of 1\.\.7/);
  assert.throws(() => readOptions(["--ticks", "0"]), /--ticks 0 is no number/);
  assert.throws(() => readOptions(["--minutes", "no"]), /--minutes no/);
  assert.throws(() => readOptions(["--workers", "0"]), /--workers 0 is no number of 1\.\.64/);
  assert.throws(() => readOptions(["--brokers", "--ticks", "5"]), /--ticks is for replicas alone/);
  assert.throws(() => readOptions(["--brokers", "--outcomes"]), /--outcomes is for replicas alone/);
  assert.throws(() => readOptions(["--mutation", "nothing"]), /none of ackBeforeJournalWrite, forgetLogView/);
});
