import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeCreateStreamReply,
  encodeCreateStream,
  encodeDeleteStream,
  encodePurgeStream,
  encodeUpdateStream,
  Operation,
  STREAMS_MAX,
  toIdentifier,
} from "@millrace/protocol";
import { Catalog } from "../catalog/catalog.ts";
import { purgeGenerationOf } from "../catalog/topic.ts";
import { Driver } from "../driver.test.ts";
import { createStream } from "./create-stream.ts";

const target = (stream: number | string) => ({ stream: toIdentifier(stream) });
const rename = (stream: number | string, name: string) =>
  encodeUpdateStream({ ...target(stream), name, options: [] });

test("a created stream is answered in full: lowest free id, the op's time, no topics", () => {
  const driver = new Driver();
  driver.createStream("zero");
  const result = driver.createStream("one");
  assert.equal(result.code, 0);
  const reply = decodeCreateStreamReply(result.body);
  assert.deepEqual(
    [reply.id, reply.name, reply.createdAt, reply.topicsCount, reply.byteLength, reply.topics.length],
    [1, "one", driver.op * 1000, 0, 0, 0],
  );
  assert.equal(driver.metadata.findStream(toIdentifier("one"))?.revision, driver.op);
});

test("a server holds 1 048 576 streams", () => {
  const catalog = new Catalog();
  const root = {
    id: 0,
    name: "iggy",
    status: 1,
    passwordHash: "",
    permissions: undefined,
    createdAt: 1,
    revision: 1,
    tokens: [],
  } as const;
  catalog.users.add(root);
  const body = encodeCreateStream({ name: "one more", options: [] });
  const op = { op: 9, operation: Operation.CreateStream, timestamp: 1, client: 7n, user: 0, body };
  Object.defineProperty(catalog.streams, "size", { value: STREAMS_MAX, configurable: true });
  assert.throws(() => createStream(catalog, op), { code: ErrorCode.TooManyStreams });
  Object.defineProperty(catalog.streams, "size", { value: STREAMS_MAX - 1 });
  assert.equal(createStream(catalog, op).code, 0);
});

test("a deleted id comes back first, a deleted name is free at once", () => {
  const driver = new Driver();
  for (const name of ["a", "b", "c"]) driver.createStream(name);
  driver.request(Operation.DeleteStream, encodeDeleteStream(target("c")));
  driver.request(Operation.DeleteStream, encodeDeleteStream(target("a")));
  assert.equal(decodeCreateStreamReply(driver.createStream("c").body).id, 0);
  assert.equal(decodeCreateStreamReply(driver.createStream("d").body).id, 2);
});

test("a taken name is rejected and changes nothing", () => {
  const driver = new Driver();
  driver.createStream("a");
  const before = driver.metadata.streams();
  const { code, body, effects } = driver.createStream("a");
  assert.deepEqual([code, body.length, effects.length], [ErrorCode.StreamNameAlreadyExists, 0, 0]);
  assert.equal(driver.metadata.streams(), before);
});

test("a stream is renamed, to its own name as well, but not to another's", () => {
  const driver = new Driver();
  driver.createStream("a");
  driver.createStream("b");
  assert.equal(driver.request(Operation.UpdateStream, rename("a", "a")).code, 0);
  assert.equal(driver.request(Operation.UpdateStream, rename(0, "A")).code, 0);
  assert.equal(driver.metadata.findStream(toIdentifier("a")), undefined);
  assert.equal(
    driver.request(Operation.UpdateStream, rename("A", "b")).code,
    ErrorCode.StreamNameAlreadyExists,
  );
  assert.equal(driver.request(Operation.UpdateStream, rename("x", "y")).code, ErrorCode.StreamIdNotFound);
});

test("a renamed stream keeps its topics", () => {
  const driver = new Driver();
  driver.createStream("a");
  driver.createTopic("a", "t");
  driver.request(Operation.UpdateStream, rename("a", "b"));
  const stream = driver.metadata.findStream(toIdentifier("b"));
  assert.ok(stream !== undefined && driver.metadata.findTopic(stream, toIdentifier("t")) !== undefined);
});

test("deleting a stream deletes every partition in it", () => {
  const driver = new Driver();
  driver.createStream("a");
  driver.createTopic("a", "t", 2);
  driver.createTopic("a", "u", 1);
  const { code, effects } = driver.request(Operation.DeleteStream, encodeDeleteStream(target("a")));
  assert.equal(code, 0);
  assert.deepEqual(
    effects.map((effect) => effect.kind === "partition-deleted" && effect.partition),
    [
      { streamId: 0, topicId: 0, partitionId: 0, revision: 3 },
      { streamId: 0, topicId: 0, partitionId: 1, revision: 3 },
      { streamId: 0, topicId: 1, partitionId: 0, revision: 4 },
    ],
  );
  const again = driver.request(Operation.DeleteStream, encodeDeleteStream(target("a")));
  assert.equal(again.code, ErrorCode.StreamIdNotFound);
});

test("purging a stream purges every topic; partitions made later owe nothing", () => {
  const driver = new Driver();
  driver.createStream("a");
  driver.createTopic("a", "t", 1);
  const { effects } = driver.request(Operation.PurgeStream, encodePurgeStream(target("a")));
  const generation = driver.op;
  assert.deepEqual(effects, [
    {
      kind: "partition-purged",
      partition: { streamId: 0, topicId: 0, partitionId: 0, revision: 3 },
      generation,
    },
  ]);
  driver.createPartitions("a", "t", 1);
  const topic = driver.metadata.findStream(toIdentifier("a"))?.topics.byName("t");
  assert.ok(topic !== undefined);
  assert.deepEqual(
    topic.partitions.map((partition) => purgeGenerationOf(topic, partition)),
    [generation, 0],
  );
  const missing = driver.request(Operation.PurgeStream, encodePurgeStream(target(9)));
  assert.equal(missing.code, ErrorCode.StreamIdNotFound);
});
