import assert from "node:assert/strict";
import type { MillraceClient, RestartedFacts } from "@millrace/client";
import { type Place, scenario, until } from "./scene.ts";

const BEFORE = 1001;

scenario(
  "C-03: a group that stood at 1,000 in a purged log gets what came after, once, and is told why.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1);
    const client = await scene.connect();
    const options = { ...place, group: "g", commitIntervalMs: 10 };
    const seen: string[] = [];
    const restarts: RestartedFacts[] = [];
    const start = () => {
      const consumer = client.consumerGroup(options);
      consumer.on("restarted", (facts) => restarts.push(facts));
      return { consumer, running: consumer.run((message) => void seen.push(message.text())) };
    };

    await send(client, place, "old", BEFORE);
    const first = start();
    await until("all is read", () => seen.length === BEFORE);
    await first.consumer.close();
    await first.running;
    const consumer = { group: "g" };
    assert.equal((await client.getConsumerOffset({ ...place, consumer }))?.storedOffset, 1000n);

    await client.purgeTopic(place.stream, place.topic);
    assert.equal(await client.getConsumerOffset({ ...place, consumer }), undefined, "the position went too");
    await send(client, place, "after", 5);
    seen.length = 0;
    const resumed = start();
    await until("a group that comes back gets the five", () => seen.length === 5);

    await client.purgeTopic(place.stream, place.topic);
    // A running member sees a purge by a log that ends before it, and not one that is filled up at once.
    await until("a group that was there notices", () => restarts.length === 1);
    await send(client, place, "again", 5);
    await until("a group that was there gets five more", () => seen.length === 10);
    assert.deepEqual(seen, [...texts("after", 5), ...texts("again", 5)]);
    assert.deepEqual(restarts, [{ partitionId: 0, expectedOffset: 5n }]);
    await resumed.consumer.close();
    await resumed.running;
  },
);

const texts = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${word} ${index}`);

async function send(client: MillraceClient, place: Place, word: string, count: number): Promise<void> {
  await client.sendMessages({ ...place, messages: texts(word, count).map((payload) => ({ payload })) });
}
