import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeDeleteTopic, Operation } from "@millrace/protocol";
import fc from "fast-check";
import type { ApplyResult } from "../committed-op.ts";
import { restoreMetadata } from "../metadata.ts";
import { GROUP, GroupDriver } from "./group-driver.test.ts";

type Step = (groups: GroupDriver) => ApplyResult | undefined;

const client = fc.integer({ min: 1, max: 6 });
const partition = fc.nat(13);
const inFlight = fc.uniqueArray(partition, { maxLength: 14 });

/**
 * Everything that can happen to a group, on few enough clients and partitions that it happens to the same
 * ones.
 */
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(client, inFlight).map(
      ([one, set]): Step =>
        (groups) =>
          groups.join(one, set),
    ),
  },
  {
    weight: 2,
    arbitrary: client.map(
      (one): Step =>
        (groups) =>
          groups.leave(one),
    ),
  },
  {
    weight: 2,
    arbitrary: client.map(
      (one): Step =>
        (groups) =>
          groups.logout(one),
    ),
  },
  {
    weight: 1,
    arbitrary: client.map(
      (one): Step =>
        (groups) =>
          groups.removeMember(one),
    ),
  },
  {
    weight: 4,
    arbitrary: partition.map(
      (one): Step =>
        (groups) =>
          groups.complete(one),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 3 }).map(
      (count): Step =>
        (groups) =>
          groups.driver.createPartitions("s", "t", count),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 3 }).map(
      (count): Step =>
        (groups) =>
          groups.driver.deletePartitions("s", "t", count),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Step>((groups) => groups.delete()) },
  { weight: 2, arbitrary: fc.constant<Step>((groups) => groups.create("g")) },
  {
    weight: 1,
    arbitrary: fc.constant<Step>((groups) => {
      groups.driver.request(Operation.DeleteTopic, encodeDeleteTopic(GROUP));
      return groups.driver.createTopic("s", "t", 5);
    }),
  },
);
const history = fc.array(step, { maxLength: 60 });

function checkGroup(groups: GroupDriver): void {
  const group = groups.find();
  if (group === undefined) return;
  const { metadata } = groups.driver;
  const partitions = metadata.findStream(GROUP.stream)?.topics.byName("t")?.partitions ?? [];
  const existing = partitions.map(({ id }) => id);
  const owned = group.members.flatMap((member) => member.partitions);
  assert.equal(new Set(owned).size, owned.length, "no partition has two owners");
  const expected = group.members.length === 0 ? [] : existing;
  assert.deepEqual(
    [...owned].sort((one, other) => one - other),
    expected,
    "every partition has an owner",
  );
  const slots = group.members.map(({ slot }) => slot);
  assert.deepEqual(
    slots,
    [...new Set(slots)].sort((one, other) => one - other),
  );
  assert.equal(new Set(group.members.map((member) => member.client)).size, group.members.length);
  for (const { slot, partitions: own, revocations } of group.members) {
    const ids = revocations.map(({ partitionId }) => partitionId);
    assert.equal(new Set(ids).size, ids.length, "a partition is revoked once");
    for (const { partitionId, target } of revocations) {
      assert.ok(own.includes(partitionId), "only an owner loses a partition");
      assert.ok(target !== slot && slots.includes(target), "a living other member waits for it");
    }
  }
}

function stateOf(groups: GroupDriver) {
  return {
    group: groups.find(),
    memberships: [1n, 2n, 3n, 4n, 5n, 6n].map((one) => groups.driver.metadata.membershipsOf(one)),
  };
}

test("whatever happens, partitions have one owner each, all of them when there are members", () => {
  fc.assert(
    fc.property(history, (steps) => {
      const groups = GroupDriver.withPartitions(5);
      for (const one of steps) {
        const before = groups.find();
        const result = one(groups);
        checkGroup(groups);
        const after = groups.find();
        const changed = result?.effects.some(({ kind }) => kind === "group-changed") === true;
        if (changed && before?.id === after?.id) {
          assert.ok((after?.generation ?? 0) > (before?.generation ?? 0), "a change raises the generation");
        } else if (!changed && before !== undefined && after !== undefined) {
          assert.ok(after.id !== before.id || after === before || after.generation === 0);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("two catalogs given the same history, one of them restored in between, hold the same groups", () => {
  fc.assert(
    fc.property(history, history, (before, after) => {
      const groups = GroupDriver.withPartitions(5);
      for (const one of before) one(groups);
      const restored = new GroupDriver(restoreMetadata(groups.driver.metadata.encodeSnapshot()));
      assert.deepEqual(stateOf(restored), stateOf(groups));
      for (const one of after) assert.deepEqual(one(restored), one(groups));
      assert.deepEqual(stateOf(restored), stateOf(groups));
      assert.deepEqual(restored.driver.metadata.encodeSnapshot(), groups.driver.metadata.encodeSnapshot());
    }),
    { numRuns: 150 },
  );
});

test("joins alone, with nothing in flight, keep shares within one of each other", () => {
  fc.assert(
    fc.property(
      fc.nat(14),
      fc.uniqueArray(fc.integer({ min: 1, max: 50 }), { maxLength: 12 }),
      (count, clients) => {
        const groups = GroupDriver.withPartitions(count);
        for (const one of clients) {
          groups.join(one);
          const counts = groups.group.members.map(({ partitions }) => partitions.length);
          assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
        }
      },
    ),
    { numRuns: 100 },
  );
});
