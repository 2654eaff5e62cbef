import assert from "node:assert/strict";
import { streamWithTopic } from "./catalog-cases.mjs";
import { numbered, poll, send, texts } from "./message-cases.mjs";

/** What is there after the server was killed and started again. */
export const restartCases = {
  "everything is there after a kill and a restart": async (world) => {
    const { PollingStrategy } = world.sdk;
    const place = await streamWithTopic(world, "durable");
    await send(world, place, 0, numbered(0, 1000));
    await world.root.offset.store({ ...place, consumer: { kind: 1, id: 7 }, partitionId: 0, offset: 499n });
    await world.restartServer();
    const after = { ...world, root: world.newClient() };
    const seen = texts(await poll(after, place, PollingStrategy.First, 1000));
    assert.deepEqual(
      seen,
      numbered(0, 1000).map((one) => one.payload),
    );
    assert.deepEqual(texts(await poll(after, place, PollingStrategy.Next, 1)), ["500"]);
    await after.root.stream.delete({ streamId: place.streamId });
  },
};
