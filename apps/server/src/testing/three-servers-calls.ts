import assert from "node:assert/strict";
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
import { batchBody } from "./batch-body.ts";
import type { RawClient } from "./raw-client.ts";
import type { ThreeServers } from "./three-servers.ts";

/** A write has to be accepted again within this time after the leader was killed. */
export const WRITES_AGAIN_MS = 10_000;
/** Starting again and fetching what was missed. */
export const CATCH_UP_MS = 20_000;
const ASK_MS = 100;

/** Tries until something works, and answers it; the time it may take is part of what is promised. */
export async function within<T>(limitMs: number, attempt: () => Promise<T>): Promise<T> {
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
export async function withClient<T>(
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
export function leaderSeenBy(servers: ThreeServers, replica: number): Promise<number> {
  return withClient(servers, replica, async (client) => {
    const { nodes } = decodeGetClusterMetadataReply((await client.command("GetClusterMetadata")).payload);
    const leader = nodes.findIndex(({ role, status }) => role === "leader" && status === "healthy");
    assert.notEqual(leader, -1, "nobody leads");
    return leader;
  });
}

/** Makes a stream through one node. */
export function createStream(servers: ThreeServers, replica: number, name: string): Promise<void> {
  return withClient(servers, replica, async (client) => {
    assert.equal(
      (await client.command("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS }))).code,
      0,
    );
  });
}

/** Sends a message to the first partition through one node. */
export function send(servers: ThreeServers, replica: number, text: string): Promise<void> {
  return withClient(servers, replica, async (client) => {
    const { code } = await client.command("SendMessages", batchBody(0, [Buffer.from(text)]));
    assert.equal(code, 0, `node ${replica} takes "${text}"`);
  });
}

/** Names of the streams and payloads of the partition, as one node has them. */
export function contentOf(servers: ThreeServers, replica: number) {
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

/** Makes a first stream with a topic of one partition. */
export async function makeTopic(servers: ThreeServers, replica: number): Promise<void> {
  await createStream(servers, replica, "shop");
  await withClient(servers, replica, async (client) => {
    const topic = encodeCreateTopic({
      ...{ stream: toIdentifier(0), name: "orders", partitionsCount: 1 },
      options: NO_OPTIONS,
    });
    assert.equal((await client.command("CreateTopic", topic)).code, 0);
  });
}
