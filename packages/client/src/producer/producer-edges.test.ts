import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Message } from "../messages/message.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const target = { stream: "s", topic: "t" } as const;

async function setUp(options: Parameters<FakeServer["connect"]>[0] = {}) {
  const server = new FakeServer();
  const topic = new FakeTopic(1);
  server.script = topic.script;
  return { server, topic, client: await server.connect(options) };
}

/** What programs without types hand over, and the code that tells them. */
const WRONG: readonly (readonly [message: unknown, code: number])[] = [
  [undefined, ErrorCode.InvalidArgument],
  ["text", ErrorCode.InvalidArgument],
  [{}, ErrorCode.InvalidArgument],
  [{ payload: 5 }, ErrorCode.InvalidArgument],
  [{ payload: { item: "tea" } }, ErrorCode.InvalidArgument],
  [{ payload: new ArrayBuffer(4) }, ErrorCode.InvalidArgument],
  [{ payload: { json: undefined } }, ErrorCode.InvalidArgument],
  [{ payload: { json: 10n } }, ErrorCode.InvalidArgument],
  [{ payload: "x", id: 5 }, ErrorCode.InvalidArgument],
  [{ payload: "x", originTimestamp: 1.5 }, ErrorCode.InvalidArgument],
  [{ payload: "x", originTimestamp: 1n << 53n }, ErrorCode.InvalidArgument],
  [{ payload: "x", key: 5 }, ErrorCode.InvalidArgument],
  [{ payload: "x", headers: "text" }, ErrorCode.InvalidArgument],
  [{ payload: "x", headers: { at: null } }, ErrorCode.InvalidHeaderValue],
  [{ payload: "x", headers: { at: new Date(0) } }, ErrorCode.InvalidHeaderValue],
  [{ payload: "x", headers: { at: [1] } }, ErrorCode.InvalidHeaderValue],
  [{ payload: "x", headers: { at: { kind: "int9", value: 1 } } }, ErrorCode.InvalidHeaderValue],
];

test("a message that is wrong fails alone, and its neighbours in the batch are written", async () => {
  const { topic, client } = await setUp();
  const producer = client.producer({ ...target, lingerMs: 20 });
  const good = [producer.send({ payload: "first" })];
  for (const [message, code] of WRONG) await assert.rejects(producer.send(message as Message), hasCode(code));
  good.push(producer.send({ payload: "last" }));
  await Promise.all(good);
  assert.deepEqual(topic.texts(), ["first", "last"]);
  await client.close();
});

test("a flush waits for no company, also for messages that were not in the buffer yet", async () => {
  const { topic, client } = await setUp();
  const keyed = client.producer({ ...target, lingerMs: 60_000 });
  void keyed.send({ payload: "learns its partition first", key: "k" });
  await keyed.flush();
  const narrow = client.producer({ ...target, lingerMs: 60_000, bufferLengthMax: 200 });
  for (let index = 0; index < 7; index += 1) void narrow.send({ payload: "x".repeat(100) });
  await narrow.close();
  assert.equal(topic.texts().length, 8);
  await client.close();
});

test("what comes behind a flush waits for company, while the flush waits for its answer", async () => {
  const { server, topic, client } = await setUp();
  const held: (() => void)[] = [];
  server.script = (request) => {
    if (request.command !== "SendMessages" || topic.sends > 0) return topic.script(request);
    held.push(() => topic.script(request));
    return true;
  };
  const producer = client.producer({ ...target, lingerMs: 30 });
  void producer.send({ payload: "flushed" });
  const flushed = producer.flush();
  while (held.length === 0) await pause(1);
  const behind = ["a", "b", "c"].map((payload) => producer.send({ payload }));
  await pause(5);
  assert.equal(held.length, 1, "nothing else has left");
  held[0]?.();
  await Promise.all([flushed, ...behind]);
  assert.equal(topic.sends, 2, "three messages made one batch");
  assert.deepEqual(topic.texts(), ["flushed", "a", "b", "c"]);
  await client.close();
});

test("a batch that fits a frame only without the names before it is refused, and costs no connection", async () => {
  const { server, client } = await setUp({ sendMemoryLength: 83_886_080 });
  // Frames and headers of batch and request make 64 MiB to the byte.
  const payload = new Uint8Array(33_554_128).fill(1);
  const messages = [{ payload }, { payload }];
  await assert.rejects(client.sendMessages({ ...target, messages }), hasCode(ErrorCode.FrameTooLarge));
  assert.equal(server.received("SendMessages").length, 0);
  assert.equal(client.leasesOut, 0);
  await client.sendMessages({ ...target, messages: [{ payload: "small" }] });
  await client.close();
});
