import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { scenarioSize } from "@millrace/testkit";
import { type Place, pause, type Scene, scenario, until } from "./scene.ts";

/** The default as a whole, and less of it with every push. */
const HAND_OVER_MS = scenarioSize({ push: 3000, whole: 30_000 });
const COMMIT_AFTER_MS = HAND_OVER_MS / 6;
const COUNT = 100;
const SETTINGS = { MILLRACE_CONSUMER_GROUP_REBALANCING_TIMEOUT: `${HAND_OVER_MS} ms` };
const GROUP = { group: "g" };

scenario(
  "C-06: who joins gets a share when its owner has committed it, and reads nothing twice.",
  SETTINGS,
  async (scene) => {
    const { place, owner, newcomer, joinMs } = await polledByOwner(scene);
    await pause(COMMIT_AFTER_MS);
    assert.deepEqual(
      await partitionsOf(newcomer, place),
      [],
      "nothing moves under work that is not finished",
    );
    const offset = BigInt(COUNT - 1);
    for (const partitionId of [0, 1]) {
      await owner.storeConsumerOffset({ ...place, consumer: GROUP, partitionId, offset });
    }
    await until("the share moves", async () => (await partitionsOf(newcomer, place)).length === 1);
    assert.ok(performance.now() - joinMs < HAND_OVER_MS, "it does not wait for the time-out");
    const [moved = -1] = await partitionsOf(newcomer, place);
    assert.deepEqual(await partitionsOf(owner, place), [1 - moved]);
    assert.equal(await nextOffset(newcomer, place, moved), COUNT, "what was committed is not read again");
    assert.equal(await nextOffset(owner, place, moved), "not owned");
  },
);

scenario(
  "C-06: who joins gets a share after the time-out when its owner commits nothing.",
  SETTINGS,
  async (scene) => {
    const { place, owner, newcomer, joinMs } = await polledByOwner(scene);
    await pause(joinMs + HAND_OVER_MS - 500 - performance.now());
    assert.deepEqual(await partitionsOf(newcomer, place), []);
    const patienceMs = HAND_OVER_MS + 20_000;
    const hasShare = async () => (await partitionsOf(newcomer, place)).length === 1;
    await until("the share moves", hasShare, patienceMs);
    assert.ok(performance.now() - joinMs >= HAND_OVER_MS - 100);
    const [moved = -1] = await partitionsOf(newcomer, place);
    assert.equal(await nextOffset(newcomer, place, moved), 0, "what was not committed comes again");
    const late = { ...place, consumer: GROUP, partitionId: moved, offset: 99n };
    await assert.rejects(owner.storeConsumerOffset(late), "a former owner commits nothing");
  },
);

/** Two partitions of which one member has polled everything when another one joins, after `joinMs`. */
async function polledByOwner(scene: Scene) {
  const place = await scene.createTopic(2);
  const owner = await scene.connect();
  const newcomer = await scene.connect();
  const messages = Array.from({ length: COUNT + 1 }, (_, index) => ({ payload: `${index}` }));
  for (const partition of [0, 1]) {
    await owner.sendMessages({ ...place, partitioning: { partition }, messages });
  }
  await owner.createConsumerGroup(place.stream, place.topic, GROUP.group);
  await owner.joinConsumerGroup({ ...place, ...GROUP });
  for (const partitionId of [0, 1]) {
    const polled = await owner.pollMessages({ ...place, consumer: GROUP, partitionId, count: COUNT });
    assert.equal(polled.messages.length, COUNT);
  }
  const joinMs = performance.now();
  await newcomer.joinConsumerGroup({ ...place, ...GROUP });
  return { place, owner, newcomer, joinMs };
}

async function partitionsOf(client: MillraceClient, place: Place): Promise<readonly number[]> {
  return (await client.syncConsumerGroup({ ...place, ...GROUP }))?.partitions ?? [];
}

/** Offset of the next message the group gets from a partition. */
async function nextOffset(client: MillraceClient, place: Place, partitionId: number) {
  const polled = await client.pollMessages({ ...place, consumer: GROUP, partitionId, count: 1 });
  return polled.partitionId === partitionId ? polled.messages[0]?.offsetNumber : "not owned";
}
