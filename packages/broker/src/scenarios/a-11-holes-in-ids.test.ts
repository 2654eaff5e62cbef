import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeGetStreamsReply,
  decodeGetTopicsReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeGetTopics,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const STREAMS = 10;
const TOPICS = 5;

const createStream = (client: TestClient, name: string) =>
  client.ok("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS }));

async function createTopic(client: TestClient, stream: string, name: string): Promise<void> {
  const topic = { stream: toIdentifier(stream), name, partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("SendMessages", sendBody([`${stream}/${name}`], { stream, topic: name }));
}

/** Every topic with its ids and what it holds, by name. */
async function everything(client: TestClient): Promise<string[]> {
  const lines: string[] = [];
  for (const stream of decodeGetStreamsReply(await client.ok("GetStreams"))) {
    const body = encodeGetTopics({ stream: toIdentifier(stream.name) });
    for (const topic of decodeGetTopicsReply(await client.ok("GetTopics", body))) {
      const target = { stream: toIdentifier(stream.name), topic: toIdentifier(topic.name) };
      const { messages } = polled(await client.ok("PollMessages", pollBody(target)));
      const held = messages.map(({ offset, text }) => `${offset} ${text}`).join();
      lines.push(`${stream.id} ${stream.name}, ${topic.id} ${topic.name}: ${held}`);
    }
  }
  return lines.sort();
}

async function deleteOdd(client: TestClient): Promise<void> {
  for (let stream = 0; stream < STREAMS; stream += 2) {
    for (let topic = 1; topic < TOPICS; topic += 2) {
      const target = { stream: toIdentifier(`s${stream}`), topic: toIdentifier(`t${topic}`) };
      await client.ok("DeleteTopic", encodeDeleteTopic(target));
    }
    await client.ok("DeleteStream", encodeDeleteStream({ stream: toIdentifier(`s${stream + 1}`) }));
  }
}

test("A-11: Holes in ids change nothing at a restart; what is made behind it gets the lowest free ids.", async () => {
  let server = await TestServer.start();
  let client = await server.login(1n);
  for (let stream = 0; stream < STREAMS; stream += 1) {
    await createStream(client, `s${stream}`);
    for (let topic = 0; topic < TOPICS; topic += 1) await createTopic(client, `s${stream}`, `t${topic}`);
  }
  await deleteOdd(client);
  const before = await everything(client);
  assert.equal(before.length, 15);

  server = await TestServer.start({ disk: server.kill() });
  client = await server.login(2n);
  assert.deepEqual(await everything(client), before);
  await createStream(client, "new");
  await createTopic(client, "new", "t0");
  await createTopic(client, "s0", "new");
  const more = await everything(client);
  assert.deepEqual(
    more.filter((line) => !before.includes(line)),
    ["0 s0, 1 new: 0 s0/new", "1 new, 0 t0: 0 new/t0"],
  );

  server = await TestServer.start({ disk: await server.stop() });
  assert.deepEqual(await everything(await server.login(3n)), more);
  await server.stop();
});
