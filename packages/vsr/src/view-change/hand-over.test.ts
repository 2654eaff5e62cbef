import assert from "node:assert/strict";
import { test } from "node:test";
import { CLUSTER_TIMING } from "../cluster-timing.ts";
import { LossyGroup } from "../lossy-group-fixture.test.ts";

/** Ticks in which a view stands before a backup may ask. */
const STANDS = CLUSTER_TIMING.heartbeatTimeout;

/** A group without faults, some time after its start in view 0. */
function calmGroup(replicas = 3): LossyGroup {
  const group = new LossyGroup({ replicas, seed: 1 });
  for (let tick = 0; tick <= STANDS; tick += 1) group.tick();
  return group;
}

function views(group: LossyGroup): number[] {
  return group.hosts.map(({ replica }) => replica?.view ?? -1);
}

function pass(group: LossyGroup, ticks: number): void {
  for (let tick = 0; tick < ticks; tick += 1) group.tick();
}

test("a backup that would rather lead is let by its primary within some round trips, in a view of its own", () => {
  for (const [index, view] of [
    [1, 1],
    [2, 2],
  ] as const) {
    const group = calmGroup();
    group.lead(index);
    pass(group, 30);
    assert.deepEqual(views(group), [view, view, view]);
    const { replica } = group.hosts[index] as (typeof group.hosts)[number];
    assert.equal(replica?.isPrimary, true);
    assert.equal(replica?.viewCause, "handed-over");
  }
});

test("what is in flight is committed before the primary lets go, and nothing of it is rejected", () => {
  const group = calmGroup();
  for (let count = 0; count < 5; count += 1) group.request(0);
  group.lead(1);
  pass(group, 60);
  assert.equal(group.agreed.length, 5);
  assert.deepEqual(group.rejected, []);
  assert.deepEqual(views(group), [1, 1, 1]);
});

test("a primary that hands over takes no requests, and takes them again when it cannot let go", () => {
  const group = calmGroup();
  const primary = group.hosts[0]?.replica;
  group.lead(1);
  group.request(0);
  pass(group, 1);
  for (const backup of [1, 2]) group.cut(backup, 0);
  assert.equal(primary?.pipelineFree, 0);
  group.request(0);
  assert.deepEqual(group.rejected, [58]);
  pass(group, CLUSTER_TIMING.prepareRetransmitInterval);
  assert.deepEqual([primary?.isPrimary, primary?.view, primary?.pipelineFree], [true, 0, 7]);
});

test("a view stands for a heartbeat time-out before anybody is let, and who leads already asks nobody", () => {
  const group = new LossyGroup({ replicas: 3, seed: 1 });
  pass(group, 5);
  group.lead(0);
  group.lead(1);
  pass(group, 30);
  assert.deepEqual(views(group), [0, 0, 0]);
});

test("a backup that lacks what is committed is not let", () => {
  const group = calmGroup();
  group.cut(0, 1);
  group.request(0);
  pass(group, 20);
  group.mend();
  group.lead(1);
  pass(group, 3);
  assert.deepEqual(views(group), [0, 0, 0]);
});
