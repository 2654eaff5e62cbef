import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode, type MillraceClient, type PollRequest } from "@millrace/client";
import { emptyTopic, sendBatch } from "../oracle/fabricated-history.ts";
import type { SentBatch } from "../oracle/sent-batches.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { type FakeMessage, fakeReader } from "../verify/fake-server.ts";
import type { Reader } from "../verify/read-partition.ts";
import { type Expectation, expectOfMetadata } from "./expectation.ts";
import { checkFound, type Found, readDamaged } from "./judge-damaged.ts";

/** Ten acknowledged batches of five messages, one after the other. */
function filled() {
  const topic = emptyTopic();
  const messages: FakeMessage[] = [];
  const batches: SentBatch[] = [];
  for (let index = 0; index < 10; index += 1) {
    const batch = sendBatch(topic, 5);
    topic.acknowledge(batch, 0, index * 5);
    batches.push(batch);
    for (let at = 0; at < 5; at += 1) {
      messages.push({ offset: index * 5 + at, number: batch.firstNumber + at, timestamp: 1n });
    }
  }
  return { topic, messages, batches };
}

/** A server that refuses polls from within some offsets, as one with a damaged batch. */
function refusing(topic: TopicHistory, messages: FakeMessage[], from: number, to: number): Reader {
  const reader = fakeReader(topic, messages);
  const pollMessages = async (poll: PollRequest) => {
    const offset = Number((poll.startAt as { offset: number }).offset);
    if (offset >= from && offset < to) throw new CodedError(ErrorCode.PartitionDamaged, "damaged");
    const count = offset < from ? Math.min(poll.count ?? 1, from - offset) : (poll.count ?? 1);
    return reader.client.pollMessages({ ...poll, count });
  };
  return { ...reader, client: { pollMessages } as unknown as MillraceClient };
}

test("a refused batch is told from its neighbours, which are read", async () => {
  const { topic, messages, batches } = filled();
  const found = await readDamaged(refusing(topic, messages, 15, 20), topic, 0);
  assert.deepEqual(found, { refused: [batches[3]], lost: [] });
});

test("what is gone from the end, or before what was sent later, is lost; half a batch is a violation", async () => {
  const { topic, messages, batches } = filled();
  const cut = await readDamaged(fakeReader(topic, messages.slice(0, 40)), topic, 0);
  assert.deepEqual(cut, { refused: [], lost: batches.slice(8) });
  const behind = [...messages.slice(0, 40), { offset: 50, number: 50, timestamp: 2n }];
  assert.deepEqual((await readDamaged(fakeReader(topic, behind), topic, 0)).lost, batches.slice(8));
  const half = [...messages.slice(0, 40), ...messages.slice(42)];
  await assert.rejects(readDamaged(fakeReader(topic, half), topic, 0), { kind: "lost" });
});

test("another message in the place of one that is known is a violation", async () => {
  const { topic, messages } = filled();
  messages[17] = { ...(messages[17] as FakeMessage), number: 3 };
  await assert.rejects(readDamaged(fakeReader(topic, messages), topic, 0), { kind: "moved" });
});

test("what the damage does not explain, or nobody told, is a violation", () => {
  const { batches } = filled();
  const [first, second] = batches as [SentBatch, SentBatch];
  const allowed: Expectation = {
    ...expectOfMetadata(),
    mayRefuse: new Set([first, second]),
    refusedMax: 1,
    mayLose: new Set([second]),
  };
  const check = (found: Partial<Found>, log = "") =>
    checkFound("t/0", { refused: [], lost: [], ...found }, allowed, log);
  check({ refused: [first] });
  check({ lost: [second] }, "kept in quarantine/");
  assert.throws(() => check({ lost: [second] }), /says nothing/);
  assert.throws(() => check({ lost: [first] }, "kept in quarantine/"), /gone without a word/);
  assert.throws(() => check({ refused: [first, second] }), /explains 1/);
  assert.throws(() => check({ refused: [batches[4] as SentBatch] }), /is refused/);
});
