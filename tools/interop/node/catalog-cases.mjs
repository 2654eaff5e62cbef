import assert from "node:assert/strict";

/** Expects the call to fail with one of the server's codes. */
export async function refused(call, ...codes) {
  await assert.rejects(call, (error) => {
    assert.ok(codes.includes(error.errorCode), `${error.message}, expected a code of ${codes}`);
    return true;
  });
}

/** Makes a stream with one topic `one`. */
export async function streamWithTopic({ root }, name, partitionCount = 1) {
  await root.stream.create({ name });
  await root.topic.create({ streamId: name, name: "one", partitionCount, compressionAlgorithm: 1 });
  return { streamId: name, topicId: "one" };
}

/** The server, its streams, topics and partitions. Each case: `(world) => Promise`. */
export const catalogCases = {
  "ping, stats, the roster and the list of clients describe the server": async ({ root }) => {
    assert.equal(await root.system.ping(), true);
    const stats = await root.system.getStats();
    assert.ok(stats.processId > 0 && stats.hostname !== "" && stats.clientsCount > 0);
    assert.equal((await root.cluster.getClusterMetadata()).nodes.length, 1);
    const me = await root.client.getMe();
    assert.equal(me.userId, 0);
    assert.ok((await root.client.list()).some((one) => one.clientId === me.clientId));
  },

  "a wrong password is refused": async ({ newClient }) => {
    const client = newClient({ username: "iggy", password: "wrong-password" });
    await refused(client.stream.list(), 42);
  },

  "a stream is created, listed, renamed and deleted": async ({ root }) => {
    const made = await root.stream.create({ name: "plain" });
    assert.ok((await root.stream.list()).some((one) => one.name === "plain"));
    assert.equal(await root.stream.update({ streamId: "plain", name: "renamed" }), true);
    assert.equal(await root.stream.get({ streamId: "plain" }), null);
    assert.equal((await root.stream.get({ streamId: made.id })).name, "renamed");
    await refused(root.stream.create({ name: "renamed" }), 1012);
    assert.equal(await root.stream.delete({ streamId: "renamed" }), true);
    await refused(root.stream.delete({ streamId: "renamed" }), 1009, 1010);
  },

  "a topic is created, changed and deleted": async (world) => {
    const { root } = world;
    await root.stream.create({ name: "topics" });
    const topic = { streamId: "topics", name: "one", partitionCount: 3, compressionAlgorithm: 1 };
    const made = await root.topic.create({ ...topic, messageExpiry: 3_600_000_000n });
    assert.deepEqual([made.partitionsCount, made.messageExpiry], [3, 3_600_000_000n]);
    const change = { streamId: "topics", topicId: "one", name: "two", compressionAlgorithm: 2 };
    assert.equal(await root.topic.update(change), true);
    assert.equal((await root.topic.get({ streamId: "topics", topicId: "two" })).compressionAlgorithm, 2);
    assert.equal(await root.topic.delete({ streamId: "topics", topicId: "two", partitionsCount: 3 }), true);
    assert.equal(await root.topic.get({ streamId: "topics", topicId: "two" }), null);
    await root.stream.delete({ streamId: "topics" });
  },

  "partitions are added and removed": async (world) => {
    const place = await streamWithTopic(world, "partitions");
    assert.equal(await world.root.partition.create({ ...place, partitionCount: 2 }), true);
    assert.equal((await world.root.topic.get(place)).partitionsCount, 3);
    assert.equal(await world.root.partition.delete({ ...place, partitionCount: 2 }), true);
    assert.equal((await world.root.topic.get(place)).partitionsCount, 1);
    await world.root.stream.delete({ streamId: "partitions" });
  },
};
