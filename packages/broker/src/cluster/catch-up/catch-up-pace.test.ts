import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CatchUpPace } from "./catch-up-pace.ts";

const LENGTH = 100_000;
const MIB = 1_048_576;

/** A node that always wants more, and clients that write so much in each tick. */
function paced(writtenPerTick: number) {
  let given = 0;
  const pace = new CatchUpPace((length) => {
    given += length;
  });
  let wanted = 0;
  const want = () => {
    wanted += 1;
    pace.give(
      () => {
        wanted -= 1;
        pace.gave(LENGTH);
        return undefined;
      },
      () => {
        wanted -= 1;
      },
    );
  };
  /** Bytes a tick over so many of them. */
  const run = (ticks: number): number => {
    const before = given;
    for (let at = 0; at < ticks; at += 1) {
      pace.wrote(writtenPerTick);
      while (wanted < 100 && given - before < 100 * MIB * ticks) want();
      pace.tick();
    }
    return (given - before) / ticks;
  };
  return { pace, run };
}

function isNear(value: number, goal: number): boolean {
  return Math.abs(value - goal) < 0.1 * goal;
}

describe("The pace of what nodes get that are behind", () => {
  it("has no bound while no client writes.", () => {
    const { run } = paced(0);
    assert.ok(run(1) >= 100 * MIB);
  });

  it("is half of what clients write, as much after 15 s, and half as much again after 30.", () => {
    const { run } = paced(2 * MIB);
    run(100);
    assert.ok(isNear(run(1300), MIB));
    run(200);
    assert.ok(isNear(run(1300), 2 * MIB));
    run(200);
    assert.ok(isNear(run(3000), 3 * MIB));
  });

  it("is 32 MiB a second at least.", () => {
    const { run } = paced(1);
    run(100);
    assert.ok(isNear(run(1000), (32 * MIB) / 100));
  });

  it("has no bound again 200 ms after the last write.", () => {
    const { pace, run } = paced(MIB);
    run(100);
    let done = 0;
    const give = () =>
      pace.give(() => {
        done += 1;
        pace.gave(100 * MIB);
        return undefined;
      });
    for (let at = 0; at < 300; at += 1) give();
    for (let at = 0; at < 21; at += 1) pace.tick();
    assert.equal(done, 300);
  });

  it("lets four reads be under way, and goes on as they end.", async () => {
    const pace = new CatchUpPace();
    const ends: (() => void)[] = [];
    for (let at = 0; at < 6; at += 1) pace.give(() => new Promise((resolve) => ends.push(resolve)));
    assert.equal(ends.length, 4);
    ends[0]?.();
    await new Promise(setImmediate);
    assert.equal(ends.length, 5);
  });

  it("drops what waited for longer than who asked does, what is too much, and all when it stops.", () => {
    const pace = new CatchUpPace();
    const block = () => new Promise<void>(() => {});
    for (let at = 0; at < 4; at += 1) pace.give(block);
    let dropped = 0;
    const count = () => {
      dropped += 1;
    };
    const give = () => pace.give(block, count);
    give();
    for (let at = 0; at < 89; at += 1) pace.tick();
    assert.equal(dropped, 0);
    pace.tick();
    assert.equal(dropped, 1);
    for (let at = 0; at < 8193; at += 1) give();
    assert.equal(dropped, 2);
    pace.stop();
    assert.equal(dropped, 8194);
    give();
    assert.equal(dropped, 8195);
  });
});
