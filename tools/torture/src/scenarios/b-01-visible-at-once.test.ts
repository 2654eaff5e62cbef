import assert from "node:assert/strict";
import { scenarioSize } from "@millrace/testkit";
import { scenario } from "./scene.ts";

const SENDS = scenarioSize({ push: 2500, whole: 50_000 });
/** Some 800 messages fill a segment of 1 MiB. */
const FILLING = "x".repeat(1000);

scenario(
  "B-01: what was acknowledged is seen at once by another connection, at every send.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1, { segmentSize: "1 MiB", messagesRequiredToSave: 100 });
    const producer = await scene.connect();
    const reader = await scene.connect();
    for (let turn = 0; turn < SENDS; turn += 1) {
      const payload = `${turn} ${FILLING}`;
      const [where] = await producer.sendMessages({
        ...place,
        partitioning: { partition: 0 },
        messages: [{ payload }],
      });
      assert.equal(where?.baseOffset, BigInt(turn));
      const startAt = { offset: turn };
      const { messages, currentOffset } = await reader.pollMessages({
        ...place,
        consumer: 1,
        startAt,
        count: 10,
      });
      assert.deepEqual(
        messages.map((message) => [message.offsetNumber, message.text()]),
        [[turn, payload]],
      );
      assert.equal(currentOffset, BigInt(turn));
    }
    const topic = await reader.getTopic(place.stream, place.topic);
    assert.ok((topic?.partitions[0]?.segmentsCount ?? 0) > SENDS / 1200, "it went through several segments");
  },
);
