import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyTopic, messagesOf, readAll, sendBatch } from "./fabricated-history.ts";
import { PartitionRead } from "./partition-read.ts";
import type { SentBatch } from "./sent-batches.ts";
import type { TopicHistory } from "./topic-history.ts";
import { Violation } from "./violation.ts";

/** Ten batches of ten messages each, acknowledged one behind the other in partition 0. */
function filledTopic(): { topic: TopicHistory; batches: SentBatch[] } {
  const topic = emptyTopic();
  const batches = Array.from({ length: 10 }, (_, index) => {
    const batch = sendBatch(topic, 10);
    topic.acknowledge(batch, 0, index * 10);
    return batch;
  });
  return { topic, batches };
}

function isKind(kind: Violation["kind"]) {
  return (error: unknown) => error instanceof Violation && error.kind === kind;
}

test("a deletion of segments explains a later start, once, and as far as its segments reach", () => {
  const { topic, batches } = filledTopic();
  const length = batches[0]?.length ?? 0;
  topic.partition(0).allowTrim(1, 2 * length);
  const rest = (count: number) => [batches.slice(count).flatMap((batch) => messagesOf(batch)), []];
  readAll({ topic, shown: rest(3) });
  assert.equal(topic.partition(0).firstRetained, 30);
  assert.equal(topic.partition(0).trimmedCount, 30);
  assert.throws(() => readAll({ topic, shown: rest(4) }), isKind("lost"));
});

test("without a deletion of segments a later start is a loss", () => {
  const { topic, batches } = filledTopic();
  const shown = [batches.slice(1).flatMap((batch) => messagesOf(batch)), []];
  assert.throws(() => readAll({ topic, shown }), isKind("lost"));
});

test("a start inside a batch is a loss even where segments were deleted", () => {
  const { topic, batches } = filledTopic();
  topic.partition(0).allowTrim(2, 1_000_000);
  const shown = [batches.flatMap((batch) => messagesOf(batch)).slice(15), []];
  assert.throws(() => readAll({ topic, shown }), isKind("lost"));
});

test("deleted messages must not return", () => {
  const { topic, batches } = filledTopic();
  topic.partition(0).allowTrim(1, 1_000_000);
  readAll({ topic, shown: [batches.slice(5).flatMap((batch) => messagesOf(batch)), []] });
  assert.throws(
    () => readAll({ topic, shown: [batches.flatMap((batch) => messagesOf(batch)), []] }),
    isKind("returned"),
  );
});

test("a partition may be empty when deletions explain all of it, and goes on behind its old end", () => {
  const { topic, batches } = filledTopic();
  topic.partition(0).allowTrim(3, 1_000_000);
  const read = new PartitionRead(topic, 0, 0);
  read.seeNothing(99);
  read.finish();
  assert.equal(topic.partition(0).end, 100);
  assert.ok(batches.every(({ outcome }) => outcome === "removed"));
  topic.endRound();
  assert.throws(() => topic.acknowledge(sendBatch(topic, 5), 0, 95), isKind("reused"));
});

test("an empty partition is a loss when deletions do not explain all of it, or its end went back", () => {
  const short = filledTopic().topic;
  short.partition(0).allowTrim(1, 1000);
  assert.throws(() => new PartitionRead(short, 0, 0).seeNothing(99), isKind("lost"));
  const { topic } = filledTopic();
  topic.partition(0).allowTrim(3, 1_000_000);
  const read = new PartitionRead(topic, 0, 0);
  read.seeNothing(89);
  assert.throws(() => read.finish(), isKind("lost"));
});

test("after a purge offsets begin again at 0, and purged messages must not return", () => {
  const { topic, batches } = filledTopic();
  topic.purge();
  const fresh = sendBatch(topic, 5);
  topic.acknowledge(fresh, 0, 0);
  readAll({ topic, shown: [messagesOf(fresh), []] });
  const old = batches[3] as SentBatch;
  assert.throws(
    () => readAll({ topic, shown: [[...messagesOf(fresh), ...messagesOf(old)], []] }),
    isKind("returned"),
  );
});
