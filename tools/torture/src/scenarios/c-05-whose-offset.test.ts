import assert from "node:assert/strict";
import type { MillraceClient } from "@millrace/client";
import { type Place, scenario } from "./scene.ts";

const GROUP = { group: "g" };

scenario(
  "C-05: an offset is the group's, not a member's, and goes with the group; plain consumers keep theirs.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1);
    const first = await scene.connect();
    const second = await scene.connect();
    const messages = Array.from({ length: 30 }, (_, index) => ({ payload: `${index}` }));
    await first.sendMessages({ ...place, messages });
    const { id } = await first.createConsumerGroup(place.stream, place.topic, "g");
    assert.equal(id, 0, "the group has the id of the plain consumer below");

    await first.joinConsumerGroup({ ...place, ...GROUP });
    await poll(first, place, GROUP, 11);
    await first.leaveConsumerGroup({ ...place, ...GROUP });
    await second.joinConsumerGroup({ ...place, ...GROUP });
    assert.deepEqual(await poll(second, place, GROUP, 5), [11, 12, 13, 14, 15]);

    assert.deepEqual(await poll(first, place, id, 3), [0, 1, 2], "a consumer of that id reads for itself");
    assert.deepEqual(await poll(second, place, GROUP, 1), [16]);
    assert.deepEqual(await poll(first, place, id, 1), [3]);

    await first.deleteConsumerGroup({ ...place, ...GROUP });
    await first.createConsumerGroup(place.stream, place.topic, "g");
    assert.equal(await first.getConsumerOffset({ ...place, consumer: GROUP }), undefined);
    await second.joinConsumerGroup({ ...place, ...GROUP });
    assert.deepEqual(await poll(second, place, GROUP, 2), [0, 1], "a group created again starts afresh");
    assert.deepEqual(await poll(first, place, id, 1), [4]);

    await scene.server.kill();
    await scene.server.start();
    assert.deepEqual(await poll(second, place, GROUP, 1), [2], "a member that came back goes on");
    assert.deepEqual(await poll(first, place, id, 1), [5]);
  },
);

/** Reads on and stores; the offsets it got. */
async function poll(
  client: MillraceClient,
  place: Place,
  consumer: number | typeof GROUP,
  count: number,
): Promise<number[]> {
  const { messages } = await client.pollMessages({ ...place, consumer, count, autoCommit: true });
  return messages.map((message) => message.offsetNumber);
}
