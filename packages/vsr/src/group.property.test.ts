import assert from "node:assert/strict";
import { test } from "node:test";
import { LossyGroup, type LossyGroupOptions } from "./lossy-group-fixture.test.ts";

/** Ticks of faults, and ticks in which a healed group must have made up for all of them. */
const TROUBLE_TICKS = 3000;
const CALM_TICKS = 9000;

/** Runs a group through faults drawn from its seed, heals it, and demands that it gets everything done. */
function live(options: LossyGroupOptions): LossyGroup {
  const group = new LossyGroup(options);
  for (let tick = 0; tick < TROUBLE_TICKS; tick += 1) {
    disturb(group);
    if (group.random.below(8) === 0) group.request(group.random.below(options.replicas));
    group.tick();
  }
  heal(group);
  return group;
}

function disturb(group: LossyGroup): void {
  const { random, hosts, options } = group;
  const { replicas } = options;
  if (random.below(120) === 0) group.cut(random.below(replicas), random.below(replicas));
  if (random.below(400) === 0) isolate(group, random.below(replicas));
  if (random.below(300) === 0) group.mend();
  const host = hosts[random.below(replicas)];
  if (host === undefined) return;
  const isForgetful = host.index === options.forgetful;
  if (host.replica === undefined) {
    if (random.below(100) === 0) group.start(host);
  } else if (random.below(400) === 0) {
    if (isForgetful && random.below(4) === 0) group.wipe(host);
    else group.crash(host, isForgetful);
  }
}

function isolate(group: LossyGroup, index: number): void {
  for (let other = 0; other < group.options.replicas; other += 1) {
    group.cut(index, other);
    if (group.random.below(3) > 0) group.cut(other, index);
  }
}

function heal(group: LossyGroup): void {
  const { replicas } = group.options;
  group.healed = true;
  group.mend();
  for (const host of group.hosts) if (host.replica === undefined) group.start(host);
  const before = group.agreed.length;
  for (let tick = 0; tick < CALM_TICKS; tick += 1) {
    if (tick % 20 === 0 && tick < CALM_TICKS - 1500) {
      for (let index = 0; index < replicas; index += 1) group.request(index);
    }
    group.tick();
    if (tick % 100 === 99 && tick < CALM_TICKS - 1500 && group.agreed.length >= before + 20) tick = CALM_TICKS - 1500;
  }
  assert.ok(group.agreed.length >= before + 20, "a healed group makes progress");
  for (const { applied, index, replica } of group.hosts) {
    assert.equal(replica?.status, "normal", `replica ${index} is normal again`);
    assert.deepEqual(applied, group.agreed, `replica ${index} has every committed op`);
  }
}

const seeds = Number(process.env["MILLRACE_SEEDS"] ?? 30);
const first = Number(process.env["MILLRACE_SEED"] ?? 1);
for (const replicas of [2, 3, 4, 5, 6, 7]) {
  test(`${replicas} replicas agree on one log whatever network and crashes do, and go on when healed`, () => {
    for (let seed = first; seed < first + seeds; seed += 1) {
      try {
        live({ replicas, seed, lossPermille: 50, repeatPermille: 50, delayTicks: 6 });
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
}
