import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { emptyTopic, sendBatch } from "../oracle/fabricated-history.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { type FakeMessage, fakeReader, type Lies } from "./fake-server.ts";
import { verifyTopic } from "./verify-topic.ts";

/** Twenty acknowledged batches of five messages, each with a time of its own, and a gap after the tenth. */
function filled(): { topic: TopicHistory; messages: FakeMessage[] } {
  const topic = emptyTopic();
  const messages: FakeMessage[] = [];
  for (let index = 0; index < 20; index += 1) {
    const batch = sendBatch(topic, 5);
    topic.acknowledge(batch, 0, index * 5 + (index < 10 ? 0 : 100));
    for (let at = 0; at < 5; at += 1) {
      const offset = batch.baseOffset + at;
      messages.push({ offset, number: batch.firstNumber + at, timestamp: BigInt(1000 + index) });
    }
  }
  return { topic, messages };
}

async function verify(
  change: (messages: FakeMessage[]) => void = () => {},
  lies: Lies = {},
): Promise<number> {
  const { topic, messages } = filled();
  change(messages);
  const depth = { random: new SeededRandom(1), isWhole: true };
  return verifyTopic(fakeReader(topic, messages, lies), topic, depth);
}

test("an honest server's topic passes, whole and in parts", async () => {
  assert.equal(await verify(), 100);
  const { topic, messages } = filled();
  const depth = { random: new SeededRandom(1), isWhole: false };
  assert.ok((await verifyTopic(fakeReader(topic, messages), topic, depth)) > 100);
});

test("a lost, a moved and an exchanged message are found through the reader", async () => {
  await assert.rejects(
    verify((messages) => messages.splice(17, 1)),
    { kind: "lost" },
  );
  await assert.rejects(
    verify((messages) => messages.splice(95, 5)),
    { kind: "lost" },
  );
  const renumber = (messages: FakeMessage[]) => {
    const message = messages[40] as FakeMessage;
    messages[40] = { ...message, number: message.number + 1 };
  };
  await assert.rejects(verify(renumber), { kind: "moved" });
});

test("an empty answer before the end that the server itself states is found", async () => {
  await assert.rejects(
    verify(() => {}, { currentOffset: 500 }),
    /though the last offset is 500/,
  );
});

test("a lookup by time that skips messages or leads behind them is found", async () => {
  await assert.rejects(
    verify(() => {}, { timeLeadsTo: 199 }),
    /for the time/,
  );
  await assert.rejects(
    verify(() => {}, { timeLeadsTo: 0 }),
    /for the time/,
  );
});

test("figures that do not add up are found", async () => {
  await assert.rejects(
    verify(() => {}, { extraCount: 1 }),
    /add up/,
  );
});
