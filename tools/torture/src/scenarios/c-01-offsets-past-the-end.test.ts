import assert from "node:assert/strict";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { scenario } from "./scene.ts";

const END = 9n;
const PAST: readonly bigint[] = [END + 1n, END + 2n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n];
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

scenario(
  "C-01: no offset past the end can be stored, so no new message is passed over.",
  {},
  async (scene) => {
    const place = await scene.createTopic(2);
    const client = await scene.connect();
    const group = { ...place, group: "g" };
    await client.createConsumerGroup(place.stream, place.topic, "g");
    await client.joinConsumerGroup(group);
    const send = (payload: string) =>
      client.sendMessages({ ...place, partitioning: { partition: 0 }, messages: [{ payload }] });
    for (let count = 0; count <= END; count += 1) await send(`${count}`);
    for (const consumer of [5, { group: "g" }]) {
      const store = (offset: bigint, partitionId = 0) =>
        client.storeConsumerOffset({ ...place, consumer, partitionId, offset });
      for (const offset of PAST) await assert.rejects(store(offset), hasCode(ErrorCode.InvalidOffset));
      await assert.rejects(store(0n, 1), hasCode(ErrorCode.InvalidOffset), "partition 1 is empty");
      await assert.rejects(store(0n, 7), hasCode(ErrorCode.ResourceNotFound), "there is no partition 7");
      assert.equal(await client.getConsumerOffset({ ...place, consumer }), undefined);
      await store(END);
      for (const offset of PAST) await assert.rejects(store(offset), hasCode(ErrorCode.InvalidOffset));
      assert.equal((await client.getConsumerOffset({ ...place, consumer }))?.storedOffset, END);
    }
    await send("new");
    for (const consumer of [5, { group: "g" }]) {
      const { messages } = await client.pollMessages({ ...place, consumer });
      assert.deepEqual(
        messages.map((message) => message.text()),
        ["new"],
      );
    }
  },
);
