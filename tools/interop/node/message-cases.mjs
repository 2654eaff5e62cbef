import assert from "node:assert/strict";
import { refused, streamWithTopic } from "./catalog-cases.mjs";

/** Messages whose payloads are the numbers from..to, end exclusive. */
export const numbered = (from, to) =>
  Array.from({ length: to - from }, (_, index) => ({ payload: String(from + index) }));

/** The payloads as text. */
export const texts = (messages) => messages.map((one) => one.payload.toString());

/** Sends to one partition. */
export const send = ({ sdk, root }, place, partition, messages) =>
  root.message.send({ ...place, messages, partition: sdk.Partitioning.PartitionId(partition) });

/** Polls partition 0 as consumer 7. */
export const poll = async ({ root }, place, pollingStrategy, count, autocommit = false) => {
  const consumer = { kind: 1, id: 7 };
  const reply = await root.message.poll({
    ...place,
    consumer,
    partitionId: 0,
    pollingStrategy,
    count,
    autocommit,
  });
  assert.equal(reply.messages.length, reply.count);
  return reply.messages;
};

/** Sending, polling and offsets. Each case: `(world) => Promise`. */
export const messageCases = {
  "payloads, ids and headers come back as sent": async (world) => {
    const { HeaderKeyFactory, HeaderValue, PollingStrategy } = world.sdk;
    const place = await streamWithTopic(world, "round-trip");
    const header = (name, value) => ({ key: HeaderKeyFactory.String(name), value });
    const headers = [
      header("text", HeaderValue.String("a value")),
      header("yes", HeaderValue.Bool(true)),
      header("big", HeaderValue.Uint64(2n ** 64n - 1n)),
      header("raw", HeaderValue.Raw(Buffer.from([0, 255]))),
    ];
    await send(world, place, 0, [{ id: 2n ** 127n, payload: "with headers", headers }]);
    const [seen] = await poll(world, place, PollingStrategy.First, 1);
    assert.equal(seen.payload.toString(), "with headers");
    assert.equal(BigInt(seen.headers.id), 2n ** 127n);
    const values = seen.userHeaders.map(({ key, value }) => [key.value, value.value]);
    assert.deepEqual(values, [
      ["text", "a value"],
      ["yes", true],
      ["big", 2n ** 64n - 1n],
      ["raw", Buffer.from([0, 255])],
    ]);
    await world.root.stream.delete({ streamId: place.streamId });
  },

  "polls begin at an offset, the first, the last and the next message": async (world) => {
    const { PollingStrategy } = world.sdk;
    const place = await streamWithTopic(world, "strategies");
    await send(world, place, 0, numbered(0, 10));
    const from = async (...how) => texts(await poll(world, place, ...how));
    assert.deepEqual(await from(PollingStrategy.First, 3), ["0", "1", "2"]);
    assert.deepEqual(await from(PollingStrategy.Last, 2), ["8", "9"]);
    assert.deepEqual(await from(PollingStrategy.Offset(4n), 2), ["4", "5"]);
    assert.deepEqual(await from(PollingStrategy.Next, 8, true), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert.deepEqual(await from(PollingStrategy.Next, 8, true), ["8", "9"]);
    assert.deepEqual(await from(PollingStrategy.Next, 8, true), []);
    await world.root.stream.delete({ streamId: place.streamId });
  },

  "offsets are stored, read and deleted": async (world) => {
    const place = await streamWithTopic(world, "offsets");
    const reader = { ...place, consumer: { kind: 1, id: 7 }, partitionId: 0 };
    await send(world, place, 0, numbered(0, 10));
    assert.equal(await world.root.offset.get(reader), null);
    assert.equal(await world.root.offset.store({ ...reader, offset: 4n }), true);
    assert.equal((await world.root.offset.get(reader)).storedOffset, 4n);
    assert.equal(await world.root.offset.delete(reader), true);
    assert.equal(await world.root.offset.get(reader), null);
    await world.root.stream.delete({ streamId: place.streamId });
  },

  "balanced sends go round, and sending to what is missing is refused": async (world) => {
    const place = await streamWithTopic(world, "spread", 3);
    const partition = world.sdk.Partitioning.Balanced;
    for (const messages of [1, 2, 3, 4, 5, 6].map((number) => numbered(number, number + 1)))
      await world.root.message.send({ ...place, messages, partition });
    const { partitions } = await world.root.topic.get(place);
    assert.deepEqual(
      partitions.map((one) => Number(one.messagesCount)),
      [2, 2, 2],
    );
    await refused(send(world, place, 9, numbered(0, 1)), 20, 3007);
    await refused(send(world, { ...place, topicId: "absent" }, 0, numbered(0, 1)), 20, 2010, 2011);
    await world.root.stream.delete({ streamId: place.streamId });
  },
};
