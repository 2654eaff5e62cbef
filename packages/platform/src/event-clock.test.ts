import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "./clock.ts";
import { clockOfEvents } from "./event-clock.ts";

/** A clock that moves whenever it is asked, and events that a test ends. */
function restless() {
  let asked = 0;
  let after: (() => void)[] = [];
  const clock: Clock = {
    wallMicros: () => 1_000_000 + asked++,
    monotonicMs: () => asked++,
    setTimer: () => ({ cancel: () => {} }),
    afterEvent: (callback) => void after.push(callback),
  };
  const endEvent = () => {
    const due = after;
    after = [];
    for (const callback of due) callback();
  };
  return { clock: clockOfEvents(clock), endEvent, asked: () => asked };
}

test("One event has one time, however often it is asked.", () => {
  const { clock, asked } = restless();
  const [wall, ms] = [clock.wallMicros(), clock.monotonicMs()];
  for (let times = 0; times < 10; times += 1) {
    assert.deepEqual([clock.wallMicros(), clock.monotonicMs()], [wall, ms]);
  }
  assert.equal(asked(), 2);
});

test("The next event has its own time, whichever of both is asked for first.", () => {
  const { clock, endEvent } = restless();
  const ms = clock.monotonicMs();
  const wall = clock.wallMicros();
  endEvent();
  assert.ok(clock.wallMicros() > wall);
  assert.ok(clock.monotonicMs() > ms);
  const later = clock.monotonicMs();
  endEvent();
  assert.ok(clock.monotonicMs() > later);
});
