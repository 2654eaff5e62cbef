import assert from "node:assert/strict";
import { byteByByte, ReplyProxy, splitAt } from "../../../packages/testkit/dist/index.js";
import { streamWithTopic } from "./catalog-cases.mjs";
import { poll, send } from "./message-cases.mjs";

/** The longest reply is 64 MiB; 63 of these come close: their frames and the header take another 3 KiB. */
const LARGE_LENGTH = 1_064_000;
const LARGE_COUNT = 63;

const shapes = {
  "byte by byte": { piecesOf: byteByByte },
  "split at 255": { piecesOf: splitAt(255) },
  "split at 256": { piecesOf: splitAt(256) },
  "split at 257": { piecesOf: splitAt(257) },
  "joined, ten at a time": { joined: 10 },
};

/** The world with a root client behind a proxy that gives replies a shape. */
async function behindProxy(world, shape, use) {
  const proxy = await ReplyProxy.start(world.address, shape);
  const root = world.newClient(undefined, proxy.address);
  try {
    await use({ ...world, root });
  } finally {
    await root.destroy();
    await proxy.close();
  }
}

async function exercise(world, streamId) {
  const place = await streamWithTopic(world, streamId);
  const sent = Array.from({ length: 200 }, (_, length) => "x".repeat(length + 1));
  await send(
    world,
    place,
    0,
    sent.map((payload) => ({ payload })),
  );
  const asked = Array.from({ length: 20 }, () => world.root.topic.get(place));
  for (const topic of await Promise.all(asked)) assert.equal(Number(topic.messagesCount), sent.length);
  const seen = await poll(world, place, world.sdk.PollingStrategy.First, sent.length);
  assert.deepEqual(
    seen.map((one) => one.payload.toString()),
    sent,
  );
}

/** Replies that a network cuts and joins (E-06). Each case: `(world) => Promise`. */
export const shapeCases = {
  ...Object.fromEntries(
    Object.entries(shapes).map(([name, shape], index) => [
      `replies that come ${name} are decoded`,
      (world) => behindProxy(world, shape, (behind) => exercise(behind, `shape-${index}`)),
    ]),
  ),

  "a reply of nearly 64 MiB is decoded": (world) =>
    behindProxy(world, { piecesOf: splitAt(257) }, async (behind) => {
      const place = await streamWithTopic(behind, "large");
      const payload = Buffer.alloc(LARGE_LENGTH, 7);
      for (let index = 0; index < LARGE_COUNT; index += 1) await send(behind, place, 0, [{ payload }]);
      const seen = await poll(behind, place, world.sdk.PollingStrategy.First, LARGE_COUNT);
      assert.equal(seen.length, LARGE_COUNT);
      for (const message of seen) assert.ok(payload.equals(message.payload));
    }),
};
