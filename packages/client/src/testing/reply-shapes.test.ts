import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { byteByByte, ReplyProxy, type ReplyShape, splitAt } from "@millrace/testkit";
import { MillraceClient } from "../index.ts";
import { RealServer } from "./real-server.test.ts";

/** Enough to need two polls of 100 and to have bodies of every length around that of the header. */
const COUNT = 200;

/** The longest reply is 64 MiB; 63 of these come close: their frames and the header take another 3 KiB. */
const LARGE_LENGTH = 1_064_000;
const LARGE_COUNT = 63;

/** Makes a topic, sends messages of growing length, asks for much at the same time, and reads all back. */
async function exercise(client: MillraceClient, stream: string): Promise<void> {
  await client.createStream(stream);
  await client.createTopic(stream, { name: "t", partitionsCount: 1 });
  const sent = Array.from({ length: COUNT }, (_, length) => "x".repeat(length + 1));
  await client.sendMessages({ stream, topic: "t", messages: sent.map((payload) => ({ payload })) });
  const asked = Array.from({ length: 30 }, () => client.getTopic(stream, "t"));
  for (const topic of await Promise.all(asked)) assert.equal(topic?.messagesCount, BigInt(COUNT));
  const received: string[] = [];
  for await (const message of client.consumer({ stream, topic: "t", consumer: "c", batchCountMax: 100 })) {
    received.push(message.text());
    if (received.length === sent.length) break;
  }
  assert.deepEqual(received, sent);
}

describe("a client behind a network that cuts and joins replies (E-06)", () => {
  const server = new RealServer();
  before(() => server.start());
  after(() => server.remove());

  /** Runs `use` with a client whose replies come in the shape; returns what the proxy counted. */
  async function through(shape: ReplyShape, use: (client: MillraceClient) => Promise<void>) {
    const proxy = await ReplyProxy.start(server.address, shape);
    const client = await MillraceClient.connect(`millrace+tcp://iggy:iggy@${proxy.address}`);
    try {
      await use(client);
    } finally {
      await client.close();
      await proxy.close();
    }
    return proxy.counts;
  }

  test("decodes replies that come byte by byte", async () => {
    const counts = await through({ piecesOf: byteByByte }, (client) => exercise(client, "bytes"));
    assert.ok(counts.writes >= counts.replies * 256, `${counts.writes} writes`);
  });

  for (const length of [255, 256, 257])
    test(`decodes replies that are split at ${length}`, async () => {
      const shape = { piecesOf: splitAt(length) };
      const counts = await through(shape, (client) => exercise(client, `split-${length}`));
      assert.ok(counts.writes > counts.replies, `${counts.writes} writes`);
    });

  test("decodes replies that come joined, ten at a time", async () => {
    const counts = await through({ joined: 10 }, (client) => exercise(client, "joined"));
    assert.ok(counts.writes < counts.replies, `${counts.writes} writes for ${counts.replies} replies`);
  });

  test("decodes a reply of nearly 64 MiB whose header comes byte by byte", async () => {
    const shape = {
      piecesOf: function* (reply: Buffer) {
        yield* byteByByte(reply.subarray(0, 300));
        for (let at = 300; at < reply.length; at += 99_991) yield reply.subarray(at, at + 99_991);
      },
    };
    await through(shape, async (client) => {
      await client.createStream("large");
      await client.createTopic("large", { name: "t", partitionsCount: 1 });
      const payload = Buffer.alloc(LARGE_LENGTH, 7);
      for (let index = 0; index < LARGE_COUNT; index += 1)
        await client.sendMessages({ stream: "large", topic: "t", messages: [{ payload }] });
      const place = { stream: "large", topic: "t", consumer: "c", partitionId: 0 };
      const polled = await client.pollMessages({ ...place, startAt: "first", count: LARGE_COUNT });
      assert.equal(polled.messages.length, LARGE_COUNT);
      for (const message of polled.messages) assert.ok(payload.equals(message.payload));
    });
  });
});
