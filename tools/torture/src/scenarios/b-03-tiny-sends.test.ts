import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { scenarioSize } from "@millrace/testkit";
import { type Place, type Scene, scenario } from "./scene.ts";

const SENDS = scenarioSize({ push: 5000, whole: 100_000 });
const UNDER_WAY = 1000;
const PAGE = 5000;

scenario(
  "B-03: a hundred thousand sends of one byte each are all there, after a stop and a kill too.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1, { messagesRequiredToSave: 100_000 });
    const client = await scene.connect();
    for (let sent = 0; sent < SENDS; sent += UNDER_WAY) {
      const sends = Array.from({ length: UNDER_WAY }, (_, index) => sendByte(client, place, sent + index));
      const bases = (await Promise.all(sends)).map((offset) => Number(offset));
      assert.deepEqual(
        bases,
        bases.map((_, index) => sent + index),
      );
    }
    await readAll(client, place);
    await scene.server.stop();
    await readAgain(scene, place);
    await scene.server.kill();
    await readAgain(scene, place);
  },
);

async function sendByte(client: MillraceClient, place: Place, index: number): Promise<bigint | undefined> {
  const messages = [{ payload: Uint8Array.of(index % 251) }];
  const [where] = await client.sendMessages({ ...place, partitioning: { partition: 0 }, messages });
  return where?.baseOffset;
}

async function readAgain(scene: Scene, place: Place): Promise<void> {
  await scene.server.start();
  await readAll(await scene.connect(), place);
}

async function readAll(client: MillraceClient, place: Place): Promise<void> {
  for (let offset = 0; offset < SENDS; ) {
    const poll = { ...place, consumer: 1, startAt: { offset }, count: PAGE };
    const { messages } = await client.pollMessages(poll);
    assert.ok(messages.length > 0, `messages from ${offset} on are there`);
    for (const message of messages) {
      assert.equal(message.offsetNumber, offset);
      assert.deepEqual([...message.payload], [offset % 251]);
      offset += 1;
    }
  }
}
