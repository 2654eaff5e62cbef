import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { type Place, type Scene, scenario } from "./scene.ts";

const GROUP = { group: "g" };

scenario(
  "C-07: members beyond the partitions wait without an error, and shares differ by at most one.",
  {},
  async (scene) => {
    const place = await scene.createTopic(3);
    const members = await join(scene, place, 5, 3);
    await members[0]?.sendMessages({
      ...place,
      partitioning: { partition: 0 },
      messages: [{ payload: "x" }],
    });
    for (const leaver of [1, 4, 0, 3]) {
      await members[leaver]?.leaveConsumerGroup({ ...place, ...GROUP });
      delete members[leaver];
      await checkShares(members, place, 3);
    }
  },
);

scenario("C-07: six partitions are shared evenly among three members.", {}, async (scene) => {
  const place = await scene.createTopic(6);
  const members = await join(scene, place, 3, 6);
  const shares = await sharesOf(members, place);
  assert.deepEqual(
    shares.map((share) => share.length),
    [2, 2, 2],
  );
});

/** Members that join one at a time; shares are right after each. */
async function join(scene: Scene, place: Place, count: number, partitionsCount: number) {
  const members: MillraceClient[] = [];
  while (members.length < count) {
    const member = await scene.connect();
    if (members.length === 0) await member.createConsumerGroup(place.stream, place.topic, GROUP.group);
    await member.joinConsumerGroup({ ...place, ...GROUP });
    members.push(member);
    await checkShares(members, place, partitionsCount);
  }
  return members;
}

async function sharesOf(members: readonly MillraceClient[], place: Place): Promise<(readonly number[])[]> {
  const syncs = members.map((member) => member.syncConsumerGroup({ ...place, ...GROUP }));
  return (await Promise.all(syncs)).filter((sync) => sync !== undefined).map((sync) => sync.partitions);
}

async function checkShares(members: readonly MillraceClient[], place: Place, partitionsCount: number) {
  const present = Object.values(members);
  const shares = await sharesOf(present, place);
  assert.equal(shares.length, present.length, "every member is one");
  const all = Array.from({ length: partitionsCount }, (_, index) => index);
  assert.deepEqual(shares.flat().sort(), all, "each partition has one owner");
  const lengths = shares.map((share) => share.length);
  assert.ok(Math.max(...lengths) - Math.min(...lengths) <= 1, `shares of ${lengths}`);
  for (const [index, member] of present.entries()) {
    for (const partitionId of all) {
      const polled = await member.pollMessages({ ...place, consumer: GROUP, partitionId });
      const isOwn = shares[index]?.includes(partitionId) ?? false;
      assert.equal(polled.partitionId === partitionId, isOwn, "a poll of another's partition says so");
      if (!isOwn) assert.equal(polled.messages.length, 0);
    }
  }
}
