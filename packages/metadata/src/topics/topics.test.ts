import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { type TypedField, typedField } from "@millrace/framing";
import {
  decodeCreateTopicReply,
  encodeDeleteTopic,
  encodePurgeTopic,
  encodeUpdateTopic,
  Operation,
  type OptionEntries,
  TOPICS_PER_STREAM_MAX,
  toIdentifier,
} from "@millrace/protocol";
import type { Topic } from "../catalog/topic.ts";
import { Driver } from "../driver.test.ts";
import { UNLIMITED } from "../options/parse-value.ts";

function driverWithStream(): Driver {
  const driver = new Driver();
  driver.createStream("s");
  return driver;
}

function topicOf(driver: Driver, topic: number | string): Topic {
  const found = driver.metadata.findStream(toIdentifier("s"))?.topics.find(toIdentifier(topic));
  assert.ok(found !== undefined);
  return found;
}

const target = (topic: number | string, stream: number | string = "s") => ({
  stream: toIdentifier(stream),
  topic: toIdentifier(topic),
});
const options = (fields: Readonly<Record<string, TypedField>>): OptionEntries =>
  Object.entries(fields).map(([key, value]) => ({ key, value }));
const update = (topic: number | string, name: string, fields: Readonly<Record<string, TypedField>> = {}) =>
  encodeUpdateTopic({ ...target(topic), name, options: options(fields) });

test("a created topic is answered in full, with its partitions and its nine options", () => {
  const driver = driverWithStream();
  const sent = options({
    segment_size: typedField("string", "512 MiB"),
    message_expiry: typedField("string", "1h"),
  });
  const result = driver.createTopic("s", "t", 2, sent);
  const reply = decodeCreateTopicReply(result.body);
  assert.deepEqual(
    [reply.id, reply.name, reply.createdAt, reply.partitionsCount, reply.messageExpiry, reply.maxTopicSize],
    [0, "t", driver.op * 1000, 2, 3_600_000_000n, UNLIMITED],
  );
  assert.deepEqual(
    reply.explicitOptions.map(({ key }) => key),
    ["message_expiry", "segment_size"],
  );
  assert.equal(reply.derivedOptions.length, 7);
  assert.deepEqual(reply.partitions[1], {
    id: 1,
    createdAt: driver.op * 1000,
    segmentsCount: 1,
    currentOffset: 0,
    byteLength: 0,
    messagesCount: 0,
  });
  assert.equal(topicOf(driver, "t").segmentSize, 512 * 1024 * 1024);
  assert.deepEqual(
    result.effects.map((effect) => effect.kind === "partition-created" && effect.partition),
    [0, 1].map((partitionId) => ({ streamId: 0, topicId: 0, partitionId, revision: driver.op })),
  );
});

test("a topic without partitions is legal", () => {
  const driver = driverWithStream();
  const result = driver.createTopic("s", "t", 0);
  assert.deepEqual([result.code, result.effects.length], [0, 0]);
  assert.equal(decodeCreateTopicReply(result.body).partitions.length, 0);
});

test("topic names are unique in their stream only, and ids start at 0 in each", () => {
  const driver = driverWithStream();
  driver.createStream("other");
  driver.createTopic("s", "t");
  assert.equal(driver.createTopic("s", "t").code, ErrorCode.TopicNameAlreadyExists);
  assert.equal(decodeCreateTopicReply(driver.createTopic("other", "t").body).id, 0);
  assert.equal(driver.createTopic("nowhere", "t").code, ErrorCode.StreamIdNotFound);
});

test("a stream holds 4096 topics", () => {
  const driver = driverWithStream();
  for (let id = 0; id < TOPICS_PER_STREAM_MAX; id += 1) driver.createTopic("s", `t${id}`, 0);
  assert.equal(driver.createTopic("s", "one more", 0).code, ErrorCode.TooManyTopics);
  driver.request(Operation.DeleteTopic, encodeDeleteTopic(target("t7")));
  assert.equal(decodeCreateTopicReply(driver.createTopic("s", "one more", 0).body).id, 7);
});

test("an update changes what is sent, keeps the bytes as sent and makes them explicit", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t");
  const expiry = typedField("string", "2days");
  const { code, body } = driver.request(Operation.UpdateTopic, update("t", "t2", { message_expiry: expiry }));
  assert.deepEqual([code, body.length], [0, 0]);
  const topic = topicOf(driver, "t2");
  assert.deepEqual(
    [topic.messageExpiry, topic.maxTopicSize, topic.compression],
    [172_800_000_000n, UNLIMITED, 1],
  );
  assert.deepEqual(topic.explicitOptions.get("message_expiry"), expiry);
  assert.equal(topic.derivedOptions.has("message_expiry"), false);
  assert.equal(topic.derivedOptions.size, 8);
});

test("an update of 0 for expiry or size leaves option and number alone", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t", 1, options({ message_expiry: typedField("uint64", 5n) }));
  const before = topicOf(driver, "t");
  const zeros = {
    message_expiry: typedField("uint64", 0n),
    max_topic_size: typedField("string", "server_default"),
  };
  assert.equal(driver.request(Operation.UpdateTopic, update("t", "t", zeros)).code, 0);
  assert.deepEqual(topicOf(driver, "t"), before);
});

test("every updatable number can change", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t");
  const fields = {
    compression_algorithm: typedField("uint8", 2),
    max_topic_size: typedField("string", "10 GiB"),
    message_expiry: typedField("uint64", 7n),
  };
  driver.request(Operation.UpdateTopic, update("t", "t", fields));
  const { compression, maxTopicSize, messageExpiry } = topicOf(driver, "t");
  assert.deepEqual([compression, maxTopicSize, messageExpiry], [2, 10n * 2n ** 30n, 7n]);
});

test("an update that names nobody, takes a name or shrinks the topic below a segment is rejected", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t");
  driver.createTopic("s", "u");
  const before = topicOf(driver, "t");
  const small = { max_topic_size: typedField("uint64", 5n) };
  const codes = [
    driver.request(Operation.UpdateTopic, update("x", "y")),
    driver.request(Operation.UpdateTopic, update("t", "u")),
    driver.request(Operation.UpdateTopic, update("t", "t", small)),
    driver.request(Operation.UpdateTopic, encodeUpdateTopic({ ...target(0, "x"), name: "t", options: [] })),
  ].map(({ code }) => code);
  assert.deepEqual(codes, [
    ErrorCode.TopicIdNotFound,
    ErrorCode.TopicNameAlreadyExists,
    ErrorCode.InvalidOptionValue,
    ErrorCode.StreamIdNotFound,
  ]);
  assert.equal(topicOf(driver, "t"), before);
});

test("deleting a topic frees id and name; its successor has another revision", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t");
  const { effects } = driver.request(Operation.DeleteTopic, encodeDeleteTopic(target(0)));
  const partition = { streamId: 0, topicId: 0, partitionId: 0, revision: 3 };
  assert.deepEqual(effects, [{ kind: "partition-deleted", partition }]);
  driver.createTopic("s", "t");
  assert.equal(topicOf(driver, 0).revision, driver.op);
  const missing = driver.request(Operation.DeleteTopic, encodeDeleteTopic(target("x")));
  assert.equal(missing.code, ErrorCode.TopicIdNotFound);
});

test("each purge of a topic is a new generation for every partition", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t", 2);
  const generations = [1, 2].map(() => {
    const { effects } = driver.request(Operation.PurgeTopic, encodePurgeTopic(target("t")));
    return effects.map((effect) => (effect.kind === "partition-purged" ? effect.generation : 0));
  });
  assert.deepEqual(generations, [
    [driver.op - 1, driver.op - 1],
    [driver.op, driver.op],
  ]);
  assert.equal(topicOf(driver, "t").partitions.length, 2);
  const missing = driver.request(Operation.PurgeTopic, encodePurgeTopic(target("x")));
  assert.equal(missing.code, ErrorCode.TopicIdNotFound);
});

test("what a query returned before an op is not changed by it", () => {
  const driver = driverWithStream();
  driver.createTopic("s", "t");
  const before = topicOf(driver, "t");
  driver.createPartitions("s", "t", 3);
  driver.request(Operation.UpdateTopic, update("t", "renamed"));
  assert.deepEqual([before.name, before.partitions.length], ["t", 1]);
});
