import assert from "node:assert/strict";
import { test } from "node:test";
import { LatencyHistogram } from "./latency-histogram.ts";
import type { LoadClock } from "./load-clock.ts";
import { runPaced } from "./paced-requests.ts";

/** A clock that stands still but for those who wait. */
function virtualClock(): LoadClock & { pass(ms: number): void } {
  let now = 1_000;
  return {
    nowMs: () => now,
    waitUntil: async (ms) => {
      now = Math.max(now, ms);
    },
    pass: (ms) => {
      now += ms;
    },
  };
}

const never = new AbortController().signal;

test("a stall shows in the latency of every request that was due during it", async () => {
  const clock = virtualClock();
  const histogram = new LatencyHistogram();
  const STALL_AT = 20;
  const request = async (index: number, dueMs: number) => {
    clock.pass(index === STALL_AT ? 1_000 : 1);
    histogram.record((clock.nowMs() - dueMs) * 1e6);
  };
  await runPaced({ clock, count: 200, inFlight: 1, intervalMs: 10, delayMs: 0, signal: never, request });
  // The backlog of 1,000 ms shrinks by 9 ms a request, so 111 more requests are late.
  const late = 111;
  assert.equal(histogram.max, 1_000e6);
  assert.ok(histogram.quantile(1 - (late - 5) / 200) > 10e6, "most of them are late");
  assert.ok(histogram.quantile(0.4) < 1.1e6, "those outside the stall are not");
  const mean = histogram.average / 1e6;
  const expected =
    (88 * 1 + Array.from({ length: 112 }, (_, at) => 1_000 - at * 9).reduce((a, b) => a + b)) / 200;
  assert.ok(Math.abs(mean - expected) < 1, `the average is ${mean}, it should be ${expected}`);
});

test("requests are due at fixed distances, and none leaves early", async () => {
  const clock = virtualClock();
  const left: number[] = [];
  const request = async (index: number, dueMs: number) => {
    assert.equal(dueMs, 1_004 + index * 2.5);
    assert.ok(clock.nowMs() >= dueMs);
    left.push(clock.nowMs());
  };
  await runPaced({ clock, count: 10, inFlight: 1, intervalMs: 2.5, delayMs: 4, signal: never, request });
  assert.deepEqual(left.slice(0, 3), [1_004, 1_006.5, 1_009]);
});

test("without an interval a request is due when there is room for it, and no more than allowed are out", async () => {
  const clock = virtualClock();
  let [out, highest] = [0, 0];
  const seen: number[] = [];
  const request = async (index: number, dueMs: number) => {
    assert.equal(dueMs, clock.nowMs());
    seen.push(index);
    out += 1;
    highest = Math.max(highest, out);
    await new Promise((resolve) => setImmediate(resolve));
    out -= 1;
  };
  await runPaced({
    clock,
    count: 50,
    inFlight: 4,
    intervalMs: undefined,
    delayMs: 0,
    signal: never,
    request,
  });
  assert.equal(highest, 4);
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, at) => at),
  );
});

test("an error and an abort end the run", async () => {
  const clock = virtualClock();
  let made = 0;
  const failing = async () => {
    made += 1;
    if (made === 5) throw new Error("refused");
  };
  const all = { clock, count: 50, inFlight: 2, intervalMs: undefined, delayMs: 0 };
  await assert.rejects(runPaced({ ...all, signal: never, request: failing }), /refused/);
  assert.ok(made < 10, `${made} requests were made`);
  const abort = new AbortController();
  abort.abort(new Error("interrupted"));
  await assert.rejects(runPaced({ ...all, signal: abort.signal, request: failing }), /interrupted/);
});
