import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "./random.ts";
import { Timer } from "./timers.ts";

/** Ticks at which `fires` says true, until `count` of them. */
function firings(timer: Timer, fires: (tick: number) => boolean, count: number): number[] {
  const ticks: number[] = [];
  for (let tick = 0; ticks.length < count; tick += 1) if (fires(tick)) ticks.push(tick);
  assert.ok(timer.isRunning || count === 1);
  return ticks;
}

test("repetitions wait twice as long each time, up to sixteen times, with up to a quarter more", () => {
  const timer = new Timer(new Random(5));
  timer.start(0, 10);
  const ticks = firings(timer, (tick) => timer.fires(tick), 8);
  assert.equal(ticks[0], 10);
  const waits = ticks.slice(1).map((tick, index) => tick - (ticks[index] as number));
  [20, 40, 80, 160, 160, 160, 160].forEach((wait, index) => {
    const actual = waits[index] as number;
    assert.ok(actual >= wait && actual <= wait * 1.25, `${actual} is ${wait} with jitter`);
  });
  assert.ok(new Set(waits.slice(3)).size > 1, "jitter differs");
});

test("an even timer has no backoff, one that fires once stops, and a start forgets", () => {
  const timer = new Timer(new Random(5));
  timer.start(3, 10);
  assert.deepEqual(
    firings(timer, (tick) => timer.firesEvenly(tick), 3),
    [13, 23, 33],
  );
  timer.start(40, 2);
  assert.deepEqual(
    firings(timer, (tick) => timer.firesOnce(tick), 1),
    [42],
  );
  assert.equal(timer.isRunning, false);
  assert.equal(timer.fires(1000), false);
});

test("one seed gives one sequence, another seed another nonce", () => {
  const sequence = (seed: number) => {
    const random = new Random(seed);
    return [random.nonce(), random.below(1000), random.below(1000)];
  };
  assert.deepEqual(sequence(1), sequence(1));
  const nonces = Array.from({ length: 2000 }, (_, seed) => new Random(seed).nonce());
  assert.equal(new Set(nonces).size, 2000);
  for (const nonce of nonces) assert.ok(Number.isSafeInteger(nonce) && nonce >= 1);
});
