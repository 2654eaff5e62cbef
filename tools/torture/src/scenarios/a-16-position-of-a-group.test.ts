import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { type Place, type Scene, scenario } from "./scene.ts";

const MESSAGES = 10_000;
const PAGE = 500;
const CONSUMER = { group: "g" };

scenario(
  "A-16: a group's position is the same after a clean stop, and never lower after a crash.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1);
    const maker = await scene.connect();
    await maker.createConsumerGroup(place.stream, place.topic, "g");
    await sendPages(maker, place);
    let committed = await commitPages(await memberOf(scene, place), place, MESSAGES);
    assert.equal(committed, BigInt(MESSAGES - 1));

    await scene.server.stop();
    await scene.server.start();
    assert.equal(await position(scene, place), committed, "after a clean stop");

    await sendPages(await scene.connect(), place);
    const member = await memberOf(scene, place);
    committed = await commitPages(member, place, MESSAGES / 2);
    // More commits are on their way when the server dies.
    const dying = commitPages(member, place, MESSAGES / 2).catch(() => {});
    await scene.server.kill();
    await member.close().catch(() => {});
    await dying;
    await scene.server.start();
    const after = await position(scene, place);
    assert.ok(after !== undefined && after >= committed, `${after} after a crash behind ${committed}`);
  },
);

async function sendPages(client: MillraceClient, place: Place): Promise<void> {
  for (let sent = 0; sent < MESSAGES; sent += PAGE) {
    const messages = Array.from({ length: PAGE }, (_, index) => ({ payload: `message ${sent + index}` }));
    await client.sendMessages({ ...place, partitioning: { partition: 0 }, messages });
  }
}

async function memberOf(scene: Scene, place: Place): Promise<MillraceClient> {
  const client = await scene.connect();
  await client.joinConsumerGroup({ ...place, ...CONSUMER });
  return client;
}

/** Reads on and commits each page; answers the last offset whose commit was acknowledged. */
async function commitPages(client: MillraceClient, place: Place, count: number): Promise<bigint> {
  let committed = -1n;
  for (let read = 0; read < count; read += PAGE) {
    const { messages } = await client.pollMessages({
      ...place,
      partitionId: 0,
      consumer: CONSUMER,
      count: PAGE,
    });
    const last = messages.at(-1);
    assert.equal(messages.length, PAGE, "a whole page");
    const offset = last?.offset ?? 0n;
    await client.storeConsumerOffset({ ...place, partitionId: 0, consumer: CONSUMER, offset });
    committed = offset;
  }
  return committed;
}

async function position(scene: Scene, place: Place): Promise<bigint | undefined> {
  const client = await scene.connect();
  return (await client.getConsumerOffset({ ...place, partitionId: 0, consumer: CONSUMER }))?.storedOffset;
}
