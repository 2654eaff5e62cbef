import assert from "node:assert/strict";
import { test } from "node:test";
import { TopicOracle } from "./history-oracle.ts";

const PRODUCER = { producer: 102n, turn: 9, sentMs: 0 };

/** A topic to which batches of these texts were sent, one after the other. */
function topicOf(batches: readonly (readonly string[])[], isPermanent = true) {
  const topic = new TopicOracle({ name: "t", partitionId: 0, isPermanent });
  const sendings = batches.map((texts, turn) => topic.sending(texts, { ...PRODUCER, turn }));
  return { topic, sendings };
}

/** Messages from an offset on. */
const messages = (texts: readonly string[], first = 0) =>
  texts.map((text, at) => ({ offset: first + at, text }));

test("a hole that heals later is found when it is served, in the middle and in front", () => {
  const { topic } = topicOf([["a", "b", "c"]]);
  const [a, b, c] = messages(["a", "b", "c"]);
  assert.throws(() => topic.read([a!, c!]), /no hole before c/);
  assert.throws(() => topic.read([b!, c!], 0), /no hole before b/);
  topic.read([b!, c!]);
  topic.read([b!, c!], 1);
  topic.finally([a!, b!, c!]);
});

test("offsets of a topic that may be purged are not given to others between two purges", () => {
  const { topic, sendings } = topicOf([["a"], ["b"]], false);
  topic.acknowledged(["a"], 0, sendings[0]!);
  assert.throws(() => topic.read(messages(["b"])), /@0 is a, not b/);
});

test("behind a purge offsets begin again, and a node that is behind may show what was", () => {
  const { topic, sendings } = topicOf([["a"]], false);
  topic.acknowledged(["a"], 0, sendings[0]!);
  topic.purgeBegins();
  const meanwhile = topic.sending(["b"], PRODUCER);
  topic.purgeEnds();
  topic.acknowledged(["b"], 0, meanwhile);
  const behind = topic.sending(["c"], PRODUCER);
  topic.read(messages(["a"]));
  topic.acknowledged(["c"], 1, behind);
  topic.finally(messages(["b", "c"]));
  topic.sending(["d"], PRODUCER);
  assert.throws(() => topic.read(messages(["d"], 1)), /@1 is c, not d/);
});

test("a message never moves, whatever is purged", () => {
  const { topic, sendings } = topicOf([["a", "b"], ["c"]], false);
  topic.purgeBegins();
  topic.acknowledged(["a", "b"], 0, sendings[0]!);
  assert.throws(() => topic.read(messages(["c", "a"])), /a of t\/0 moves from 0 to 1/);
});

test("batches of a producer rise with the offsets, though the one was acknowledged without an offset", () => {
  const fixture = () => {
    const { topic, sendings } = topicOf([["a"], ["b"]]);
    topic.acknowledged(["a"], undefined, sendings[0]!);
    topic.acknowledged(["b"], undefined, sendings[1]!);
    return topic;
  };
  const moved = /batch 1 of 102 in t\/0@1, turn 0, is not behind turn 1/;
  assert.throws(() => fixture().finally(messages(["b", "a"])), moved);
  fixture().finally(messages(["a", "b"]));
});

test("batches that were under way at once may be stored in any order", () => {
  const { topic } = topicOf([]);
  for (const text of ["a", "b"]) topic.sending([text], PRODUCER);
  topic.sending(["c"], { ...PRODUCER, turn: 10 });
  topic.finally(messages(["b", "a", "c"]));
});

test("a batch is whole and in one piece", () => {
  const fixture = () => topicOf([["a", "b"], ["c"]]).topic;
  assert.throws(() => fixture().finally(messages(["a", "c"])), /@0 is whole/);
  assert.throws(() => fixture().finally(messages(["a"])), /@0 is whole/);
  assert.throws(() => fixture().finally(messages(["b", "c"])), /@0 is in one piece/);
  fixture().finally(messages(["c"]));
});

test("what was acknowledged is there, and nothing else", () => {
  const { topic, sendings } = topicOf([["a"], ["b"]]);
  topic.acknowledged(["a"], 0, sendings[0]!);
  assert.throws(() => topic.finally([]), /acknowledged a of t\/0 is there/);
  assert.throws(() => topic.read(messages(["a", "x"])), /only what was sent, not x/);
});
