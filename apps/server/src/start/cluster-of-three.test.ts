import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  decodeGetClusterMetadataReply,
  decodeGetStreamsReply,
  decodePollMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodePollMessages,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { batchBody } from "../testing/batch-body.ts";
import type { RawClient } from "../testing/raw-client.ts";
import { ThreeServers } from "../testing/three-servers.ts";

/** A write has to be accepted again within this time after the leader was killed. */
const WRITES_AGAIN_MS = 10_000;
/** Starting again and fetching what was missed. */
const CATCH_UP_MS = 20_000;
const ASK_MS = 100;

/** Tries until something works, and answers it; the time it may take is part of what is promised. */
async function within<T>(limitMs: number, attempt: () => Promise<T>): Promise<T> {
  const deadlineMs = Date.now() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadlineMs) throw error;
      await sleep(ASK_MS);
    }
  }
}

/** Has one session with a node for as long as `use` takes. */
async function withClient<T>(
  servers: ThreeServers,
  replica: number,
  use: (client: RawClient) => Promise<T>,
): Promise<T> {
  const client = await servers.login(replica);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/** Number of the node that leads, as one of them sees it. */
function leaderSeenBy(servers: ThreeServers, replica: number): Promise<number> {
  return withClient(servers, replica, async (client) => {
    const { nodes } = decodeGetClusterMetadataReply((await client.command("GetClusterMetadata")).payload);
    const leader = nodes.findIndex(({ role, status }) => role === "leader" && status === "healthy");
    assert.notEqual(leader, -1, "nobody leads");
    return leader;
  });
}

function createStream(servers: ThreeServers, replica: number, name: string): Promise<void> {
  return withClient(servers, replica, async (client) => {
    assert.equal(
      (await client.command("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS }))).code,
      0,
    );
  });
}

function send(servers: ThreeServers, replica: number, text: string): Promise<void> {
  return withClient(servers, replica, async (client) => {
    const { code } = await client.command("SendMessages", batchBody(0, [Buffer.from(text)]));
    assert.equal(code, 0, `node ${replica} takes "${text}"`);
  });
}

/** Names of the streams and payloads of the partition, as one node has them. */
function contentOf(servers: ThreeServers, replica: number) {
  return withClient(servers, replica, async (client) => {
    const streams = decodeGetStreamsReply((await client.command("GetStreams")).payload);
    const poll = encodePollMessages({
      ...{ stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 },
      consumer: { kind: "consumer", id: toIdentifier(1) },
      ...{ strategy: { kind: "first" }, count: 100, autoCommit: false },
    });
    const polled = await client.command("PollMessages", poll);
    assert.equal(polled.code, 0);
    const { batches } = decodePollMessagesReply(polled.payload);
    const texts = Buffer.from(batches)
      .toString("latin1")
      .match(/message \d+/g);
    // What was refused in an election and sent again by another client may be there twice.
    return { streams: streams.map(({ name }) => name), texts: [...new Set(texts)] };
  });
}

async function makeTopic(servers: ThreeServers, replica: number): Promise<void> {
  await createStream(servers, replica, "shop");
  await withClient(servers, replica, async (client) => {
    const topic = encodeCreateTopic({
      ...{ stream: toIdentifier(0), name: "orders", partitionsCount: 1 },
      options: NO_OPTIONS,
    });
    assert.equal((await client.command("CreateTopic", topic)).code, 0);
  });
}

const ALL = {
  streams: ["shop", "while one is down"],
  texts: ["message 1", "message 2", "message 3", "message 4"],
};

async function assertHasAll(servers: ThreeServers, replica: number): Promise<void> {
  await within(CATCH_UP_MS, async () => assert.deepEqual(await contentOf(servers, replica), ALL));
}

test("Three servers lose their leader, go on, and have everything when it is back, even without its data.", async () => {
  const servers = await ThreeServers.start();
  try {
    const leader = await within(WRITES_AGAIN_MS, () => leaderSeenBy(servers, 0));
    const [other = 0, third = 0] = [0, 1, 2].filter((replica) => replica !== leader);
    await makeTopic(servers, other);
    await send(servers, leader, "message 1");
    await send(servers, leader, "message 2");

    await servers.kill(leader);
    const next = await within(WRITES_AGAIN_MS, async () => {
      const seen = await leaderSeenBy(servers, third);
      await send(servers, seen, "message 3");
      return seen;
    });
    assert.notEqual(next, leader);
    await createStream(servers, other, "while one is down");
    await send(servers, next, "message 4");

    await servers.startAgain(leader);
    for (const replica of [leader, other, third]) await assertHasAll(servers, replica);

    await servers.kill(third);
    await rm(servers.dataOf(third), { recursive: true });
    await servers.startAgain(third);
    await assertHasAll(servers, third);

    assert.deepEqual(await servers.stop(), [0, 0, 0]);
  } finally {
    await servers.remove();
  }
});
