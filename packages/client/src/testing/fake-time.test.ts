import assert from "node:assert/strict";
import { test } from "node:test";
import { SimClock } from "@millrace/platform/sim";
import type { ClientPlatform } from "../client-platform.ts";

/** Nothing here takes an hour of the fake time; what does never ends. */
const FOREVER_MS = 3_600_000;

/**
 * Time for a client and its fake server that passes only while a test lets it, and then as fast as the
 * machine can: how busy that is decides nothing.
 */
export class FakeTime {
  readonly clock = new SimClock();

  /** The platform on this time. */
  on(platform: ClientPlatform): ClientPlatform {
    return { ...platform, clock: this.clock };
  }

  /** Lets time pass until the promise is settled, and gives what it gave. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    assert.ok(await this.clock.runUntil(() => isSettled, FOREVER_MS), "what is waited for ends");
    return promise;
  }

  /** Lets so much time pass. */
  pass(durationMs: number): Promise<void> {
    return this.clock.run(durationMs);
  }
}

test("fake time passes while something is waited for, and no further than it takes", async () => {
  const time = new FakeTime();
  const slept = new Promise<string>((resolve) => time.clock.setTimer(2000, () => resolve("woken")));
  assert.equal(await time.until(slept), "woken");
  assert.equal(time.clock.monotonicMs(), 2000);
  await assert.rejects(time.until(Promise.reject(new Error("refused"))), /refused/);
});
