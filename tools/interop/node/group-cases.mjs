import assert from "node:assert/strict";
import { refused, streamWithTopic } from "./catalog-cases.mjs";
import { numbered, send, texts } from "./message-cases.mjs";

const PARTITIONS = 4;
/** A rebalance takes milliseconds here; the client looks at its assignment every 5 s. */
const PATIENCE_MS = 40_000;

const everywhere = async (world, place, from, to) => {
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    await send(world, place, partition, numbered(from, to));
};

/** Lets the members poll in turn until together they saw the numbers below `end` of every partition. */
async function readAll({ sdk }, place, end, members) {
  const wanted = PARTITIONS * end;
  const all = () => new Set(members.flatMap((member) => [...member.seen]));
  for (const giveUp = Date.now() + PATIENCE_MS; all().size < wanted; ) {
    assert.ok(Date.now() < giveUp, `${all().size} of ${wanted} messages read`);
    for (const { client, seen } of members) {
      const request = { ...place, consumer: sdk.Consumer.Group("readers"), partitionId: null };
      const how = { pollingStrategy: sdk.PollingStrategy.Next, count: 10, autocommit: true };
      const polled = await client.message.poll({ ...request, ...how });
      for (const text of texts(polled.messages)) seen.add(`${polled.partitionId}:${text}`);
    }
  }
}

/** Consumer groups. Each case: `(world) => Promise`. */
export const groupCases = {
  "a group is created, joined, left and deleted": async (world) => {
    const place = await streamWithTopic(world, "groups", 3);
    const group = { ...place, groupId: "readers" };
    assert.equal((await world.root.group.create({ ...place, name: "readers" })).partitionsCount, 3);
    await refused(world.root.group.create({ ...place, name: "readers" }), 5004);
    assert.equal(await world.root.group.join(group), true);
    assert.equal((await world.root.group.get(group)).membersCount, 1);
    assert.equal(await world.root.group.leave(group), true);
    await refused(world.root.group.leave(group), 5006);
    assert.equal(await world.root.group.delete(group), true);
    assert.equal(await world.root.group.get(group), null);
    await world.root.stream.delete({ streamId: place.streamId });
  },

  "a second member takes its share and what it leaves comes back": async (world) => {
    const place = await streamWithTopic(world, "rebalance", PARTITIONS);
    const group = { ...place, groupId: "readers" };
    await world.root.group.create({ ...place, name: "readers" });
    const member = async () => {
      const client = world.newClient();
      await client.group.join(group);
      return { client, seen: new Set() };
    };
    const first = await member();
    await everywhere(world, place, 0, 20);
    await readAll(world, place, 20, [first]);
    const second = await member();
    await everywhere(world, place, 20, 40);
    await readAll(world, place, 40, [first, second]);
    assert.equal((await world.root.group.get(group)).membersCount, 2);
    assert.equal(new Set([...second.seen].map((text) => text.split(":")[0])).size, 2);
    await second.client.group.leave(group);
    await everywhere(world, place, 40, 60);
    const both = { client: first.client, seen: new Set([...first.seen, ...second.seen]) };
    await readAll(world, place, 60, [both]);
    assert.equal((await world.root.group.get(group)).membersCount, 1);
    await world.root.stream.delete({ streamId: place.streamId });
  },
};
