import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { encodeTypedFields, FrameCursor, type OutgoingMessage, typedField } from "@millrace/framing";
import type { SimDisk } from "@millrace/platform/sim";
import {
  decodePollMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodePurgeTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { toHex, utf8 } from "@millrace/testkit";
import { sealedMessages, sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const KEY = new Uint8Array(32).fill(5);
const CANARY = "canary-of-the-mine";
const COUNT = 100;
const target = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function createTopic(client: TestClient): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
}

/** A hundred messages of 1 to 100 bytes with headers of as many. */
function messagesOfAllSizes(): OutgoingMessage[] {
  return Array.from({ length: COUNT }, (_, index) => ({
    id: BigInt(index + 1),
    payload: utf8(CANARY.repeat(6)).subarray(0, index + 1),
    userHeaders: encodeTypedFields([
      [typedField("string", CANARY), typedField("raw", new Uint8Array(COUNT - index).fill(index))],
    ]),
  }));
}

async function polledFrames(client: TestClient, count = COUNT): Promise<string[]> {
  const { batches } = decodePollMessagesReply(await client.ok("PollMessages", pollBody({ count })));
  const cursor = new FrameCursor(batches);
  const frames: string[] = [];
  while (cursor.next())
    frames.push(`${cursor.offsetDelta} ${toHex(cursor.payload)} ${toHex(cursor.userHeaders)}`);
  return frames;
}

/** Files of the disk that hold the canary. */
async function findCanary(disk: SimDisk, folder = ""): Promise<string[]> {
  const found: string[] = [];
  for (const { name, kind } of await disk.readDirectory(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (kind === "directory") found.push(...(await findCanary(disk, path)));
    else if (toHex((await disk.readWhole(path, 1e9)) ?? utf8("")).includes(toHex(utf8(CANARY))))
      found.push(path);
  }
  return found;
}

function refusal(pattern: RegExp) {
  return (error: unknown) =>
    isCodedError(error, ErrorCode.InvalidEncryptionKey) && pattern.test(error.message);
}

test("An encrypted batch of a hundred sizes comes back whole, at once, after a stop and after a kill (A-18).", async () => {
  const messages = messagesOfAllSizes();
  const expected = messages.map(
    ({ payload, userHeaders }, index) => `${index} ${toHex(payload)} ${toHex(userHeaders ?? utf8(""))}`,
  );
  for (const end of ["stop", "kill"] as const) {
    const server = await TestServer.start({ key: KEY });
    const client = await server.login();
    await createTopic(client);
    const batch = sealedMessages(messages);
    await client.ok("SendMessages", sendBody([], { batch, messagesCount: COUNT }));
    assert.deepEqual(await polledFrames(client), expected);
    const disk = end === "stop" ? await server.stop() : server.kill();
    assert.deepEqual(await findCanary(disk), []);
    const again = await TestServer.start({ disk, key: KEY });
    const reader = await again.login(2n);
    assert.deepEqual(await polledFrames(reader), expected);
    assert.deepEqual(await polledFrames(reader, 37), expected.slice(0, 37));
    const next = polled(await reader.ok("PollMessages", pollBody({ strategy: { kind: "last" }, count: 1 })));
    assert.equal(next.currentOffset, COUNT - 1);
    await again.stop();
  }
});

test("Without encryption the messages are found in a file, and with it in none, also after a purge.", async () => {
  for (const key of [undefined, KEY]) {
    const server = await TestServer.start(key === undefined ? {} : { key });
    const client = await server.login();
    await createTopic(client);
    for (const text of ["a", "b"]) {
      await client.ok("SendMessages", sendBody([CANARY + text, CANARY]));
      assert.equal((await findCanary(server.platform.disk)).length, key === undefined ? 1 : 0);
      await client.ok("PurgeTopic", encodePurgeTopic(target));
    }
    await client.ok("SendMessages", sendBody([CANARY]));
    const texts = polled(await client.ok("PollMessages", pollBody())).messages.map(({ text }) => text);
    assert.deepEqual(texts, [CANARY]);
    assert.equal((await findCanary(await server.stop())).length, key === undefined ? 1 : 0);
  }
});

test("Another key, a missing or a superfluous one refuses the start and changes nothing.", async () => {
  const server = await TestServer.start({ key: KEY });
  const client = await server.login();
  await createTopic(client);
  await client.ok("SendMessages", sendBody(["a"]));
  const disk = await server.stop();
  const other = TestServer.start({ disk, key: new Uint8Array(32) });
  await assert.rejects(other, refusal(/with another key than encryption\.key/));
  await assert.rejects(TestServer.start({ disk }), refusal(/Set encryption\.enabled to true/));
  const again = await TestServer.start({ disk, key: KEY });
  const reader = await again.login(2n);
  assert.deepEqual(polled(await reader.ok("PollMessages", pollBody())).messages, [{ offset: 0, text: "a" }]);
  await again.stop();
  const clear = await (await TestServer.start()).stop();
  await assert.rejects(TestServer.start({ disk: clear, key: KEY }), refusal(/is not encrypted/));
  await (await TestServer.start({ disk: clear })).stop();
});

test("An encrypted send that finds no memory is refused with 58, and the next one is served.", async () => {
  const server = await TestServer.start({ key: KEY, poolLength: 3 * 1024 * 1024 });
  const client = await server.login();
  await createTopic(client);
  const pool = server.poolOf(0);
  const held = [];
  const body = sendBody(["x".repeat(100_000)]);
  const frames = [0, 1].map((request) => client.frame(160, body, { request: BigInt(request + 1) }));
  for (let lease = pool.allocate(1); lease !== undefined; lease = pool.allocate(1)) held.push(lease);
  const [first] = frames;
  const refused = await server.drive(client.exchange(first ?? body));
  assert.equal(refused.code, ErrorCode.TransientNotAccepted);
  for (const lease of held) lease.release();
  const [, second] = frames;
  assert.equal((await server.drive(client.exchange(second ?? body))).code, 0);
  const { messages } = polled(await client.ok("PollMessages", pollBody()));
  assert.deepEqual(
    messages.map(({ offset }) => offset),
    [0],
  );
  await server.stop();
});
