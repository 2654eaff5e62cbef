import assert from "node:assert/strict";
import { test } from "node:test";
import { LossyGroup, type LossyGroupOptions } from "./lossy-group-fixture.test.ts";
import { quorums } from "./quorums.ts";

/** Ticks of faults, ticks in which a healed quorum must get on, ticks in which the others make up. */
const TROUBLE_TICKS = 3000;
const CALM_TICKS = 9000;
const SETTLE_TICKS = 1500;

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
  if (random.below(700) === 0) for (const one of hosts) if (random.below(2) === 0) group.crash(one);
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

/** Mends the network for as few replicas as the group needs, then for all of them. */
function heal(group: LossyGroup): void {
  const { replicas, forgetful } = group.options;
  const { replication, viewChange } = quorums(replicas);
  const chosen = [...group.hosts].filter(({ index }) => index !== forgetful);
  while (chosen.length > Math.max(replication, viewChange))
    chosen.splice(group.random.below(chosen.length), 1);
  group.healed = true;
  group.mend();
  for (const host of group.hosts) {
    if (!chosen.includes(host)) group.crash(host);
    else if (host.replica === undefined) group.start(host);
  }
  demandProgress(group);
  for (const host of group.hosts) if (host.replica === undefined) group.start(host);
  demandProgress(group);
  for (let tick = 0; tick < SETTLE_TICKS; tick += 1) group.tick();
  for (const { applied, index, replica } of group.hosts) {
    assert.equal(replica?.status, "normal", `replica ${index} is normal again`);
    assert.deepEqual(applied, group.agreed, `replica ${index} has every committed op`);
  }
}

function demandProgress(group: LossyGroup): void {
  const wanted = group.agreed.length + 20;
  for (let tick = 0; tick < CALM_TICKS && group.agreed.length < wanted; tick += 1) {
    if (tick % 20 === 0) for (const { index } of group.hosts) group.request(index);
    group.tick();
  }
  assert.ok(group.agreed.length >= wanted, "a healed group makes progress");
}

const seeds = Number(process.env["MILLRACE_SEEDS"] ?? 30);
const first = Number(process.env["MILLRACE_SEED"] ?? 1);
for (const replicas of [2, 3, 4, 5, 6, 7]) {
  test(`${replicas} replicas agree on one log whatever network and crashes do, and go on when healed`, () => {
    for (let seed = first; seed < first + seeds; seed += 1) {
      try {
        live({ replicas, seed, lossPermille: 50, repeatPermille: 50, strayPermille: 30, delayTicks: 6 });
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
}
