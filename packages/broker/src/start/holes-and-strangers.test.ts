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
import { utf8 } from "@millrace/testkit";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const STREAMS = 10;
const TOPICS = 5;
const isOdd = (index: number) => index % 2 === 1;

async function createStream(client: TestClient, name: string): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name, options: NO_OPTIONS }));
}

async function createTopic(client: TestClient, stream: number, name: string): Promise<void> {
  const topic = { stream: toIdentifier(stream), name, partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
}

/** Names, ids and messages of everything there is. */
async function listing(client: TestClient): Promise<string[]> {
  const lines: string[] = [];
  for (const stream of decodeGetStreamsReply(await client.ok("GetStreams"))) {
    lines.push(`stream ${stream.id} ${stream.name}`);
    const place = { stream: toIdentifier(stream.id) };
    for (const topic of decodeGetTopicsReply(await client.ok("GetTopics", encodeGetTopics(place)))) {
      const poll = pollBody({ ...place, topic: toIdentifier(topic.id) });
      const { messages } = polled(await client.ok("PollMessages", poll));
      lines.push(
        `topic ${topic.id} ${topic.name} ${messages.map(({ offset, text }) => `${offset}=${text}`)}`,
      );
    }
  }
  return lines;
}

test("Holes that deletions leave among streams and topics change nothing about the others at a restart (A-11).", async () => {
  let server = await TestServer.start();
  let client = await server.login();
  for (let stream = 0; stream < STREAMS; stream += 1) {
    await createStream(client, `s${stream}`);
    for (let topic = 0; topic < TOPICS; topic += 1) {
      await createTopic(client, stream, `t${topic}`);
      await client.ok("SendMessages", sendBody([`${stream}/${topic}`], { stream, topic }));
    }
  }
  for (let stream = 0; stream < STREAMS; stream += 1) {
    if (isOdd(stream)) await client.ok("DeleteStream", encodeDeleteStream({ stream: toIdentifier(stream) }));
    for (let topic = 1; topic < TOPICS && !isOdd(stream); topic += 2) {
      const place = { stream: toIdentifier(stream), topic: toIdentifier(topic) };
      await client.ok("DeleteTopic", encodeDeleteTopic(place));
    }
  }
  const before = await listing(client);
  server = await TestServer.start({ disk: server.kill() });
  client = await server.login(2n);
  assert.deepEqual(await listing(client), before);
  await createStream(client, "new");
  await createTopic(client, 1, "first");
  await createTopic(client, 0, "second");
  const after = await listing(client);
  const added = ["stream 1 new", "topic 0 first ", "topic 1 second "];
  assert.deepEqual(
    after.filter((line) => !added.includes(line)),
    before,
  );
  server = await TestServer.start({ disk: await server.stop() });
  client = await server.login(3n);
  assert.deepEqual(await listing(client), after);
  assert.ok(added.every((line) => after.includes(line)));
  await server.stop();
});

test("Files and folders with strange names in any data folder are kept and change nothing (A-12).", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await createStream(client, "s");
  await createTopic(client, 0, "t");
  await client.ok("SendMessages", sendBody(["a"]));
  const expected = await listing(client);
  const disk = await before.stop();
  const [partition] = await disk.readDirectory("streams/0/topics/0/partitions");
  const folders = [
    "",
    "metadata/",
    "streams/",
    "streams/0/",
    "streams/0/topics/",
    "streams/0/topics/0/",
    "streams/0/topics/0/partitions/",
    `streams/0/topics/0/partitions/${partition?.name}/`,
  ];
  const paths = folders.flatMap((folder) =>
    [".DS_Store", "0.tmp", "10 (copy)", "empty"].map((name) => folder + name),
  );
  for (const path of paths) await disk.writeWhole(path, utf8(path.endsWith("empty") ? "" : "stranger"));
  for (const folder of folders) await disk.makeDirectory(`${folder}folder`);
  const server = await TestServer.start({ disk });
  assert.deepEqual(await listing(await server.login(2n)), expected);
  for (const path of [...paths, ...folders.map((folder) => `${folder}folder`)]) {
    assert.ok((await server.platform.disk.stat(path)) !== undefined, path);
  }
  await server.stop();
});
