import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "@millrace/testkit";
import { SimClock } from "./sim-clock.ts";
import { createSimPlatform } from "./sim-platform.ts";

test("time stands still until it is moved, and wall and monotonic time move together", () => {
  const clock = new SimClock({ startMicros: 5_000_000 });
  assert.equal(clock.monotonicMs(), 0);
  clock.advance(1500);
  assert.equal(clock.monotonicMs(), 1500);
  assert.equal(clock.wallMicros(), 6_500_000);
});

test("timers fire by time, then in the order they were set, each at its own time", () => {
  const clock = new SimClock();
  const order: string[] = [];
  const note = (name: string) => () => order.push(`${name} ${clock.monotonicMs()}`);
  clock.setTimer(20, note("late"));
  clock.setTimer(10, note("first"));
  clock.setTimer(10, () => {
    note("second")();
    clock.setTimer(0, note("at once"));
    clock.setTimer(100, note("beyond"));
  });
  clock.setTimer(15, note("never")).cancel();
  assert.equal(clock.nextTimerMs(), 10);
  clock.advance(30);
  assert.deepEqual(order, ["first 10", "second 10", "at once 10", "late 20"]);
  assert.equal(clock.nextTimerMs(), 110);
});

test("afterEvent runs when the event returns, and as a microtask outside of events", async () => {
  const clock = new SimClock();
  const order: string[] = [];
  clock.setTimer(1, () => {
    clock.afterEvent(() => order.push("after"));
    order.push("event");
  });
  clock.setTimer(1, () => order.push("next"));
  clock.advance(1);
  clock.afterEvent(() => order.push("outside"));
  assert.deepEqual(order, ["event", "after", "next"]);
  await Promise.resolve();
  assert.deepEqual(order, ["event", "after", "next", "outside"]);
});

test("run lets promises settle between events", async () => {
  const clock = new SimClock();
  const order: string[] = [];
  clock.setTimer(1, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => order.push("promise"));
  });
  clock.setTimer(1, () => order.push("next"));
  await clock.run(2);
  assert.deepEqual(order, ["promise", "next"]);
});

test("a platform's disk can take its time from the clock", async () => {
  const { clock, disk } = createSimPlatform({ seed: 1, diskLatencyMaxMs: 5 });
  let done = false;
  const writing = disk.writeWhole("a", utf8("x")).then(() => {
    done = true;
  });
  await clock.run(0.001);
  assert.equal(done, false);
  await clock.run(100);
  await writing;
  assert.equal(done, true);
});

test("one seed gives one platform, another seed another", async () => {
  const [one, same, other] = [4, 4, 5].map((seed) => createSimPlatform({ seed }).random.bytes(8));
  assert.deepEqual(one, same);
  assert.notDeepEqual(one, other);
});

test("simulated passwords verify and are not stored clear", async () => {
  const { passwords } = createSimPlatform({ seed: 1 });
  const stored = await passwords.hash("secret");
  assert.ok(!stored.includes("secret"));
  assert.equal(await passwords.verify("secret", stored), true);
  assert.equal(await passwords.verify("other", stored), false);
});

test("running until something is so ends at the same time as running millisecond by millisecond", async () => {
  const ends: number[] = [];
  for (const isClosed of [false, true]) {
    const clock = new SimClock({ isClosed });
    const seen: number[] = [];
    const settling = async (delayMs: number) => {
      await new Promise<void>((resolve) => clock.setTimer(delayMs, resolve));
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      seen.push(clock.monotonicMs());
    };
    for (const delayMs of [0.25, 1000.5, 1000.75, 1001.25]) void settling(delayMs);
    assert.equal(await clock.runUntil(() => seen.length >= 2, 5000), true);
    assert.deepEqual(seen, [0.25, 1000.5, 1000.75], "a millisecond is run to its end");
    ends.push(clock.monotonicMs());
    assert.equal(await clock.runUntil(() => false, 10), false);
    assert.equal(clock.monotonicMs(), 1011);
    assert.equal(seen.length, 4);
  }
  assert.deepEqual(ends, [1001, 1001]);
});

test("each millisecond of an open clock is a turn of the event loop for what is no promise", async () => {
  const clock = new SimClock();
  let turns = 0;
  const turn = (): void => {
    turns += 1;
    if (turns < 50) setImmediate(turn);
  };
  setImmediate(turn);
  assert.equal(await clock.runUntil(() => turns === 50, 100), true);
  assert.equal(clock.monotonicMs(), 50);
});
