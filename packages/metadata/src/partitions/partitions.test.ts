import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreatePartitions,
  encodeDeletePartitions,
  encodeDeleteSegments,
  Operation,
  PARTITIONS_PER_TOPIC_MAX,
  toIdentifier,
} from "@millrace/protocol";
import { findPartition, type Topic } from "../catalog/topic.ts";
import { Driver } from "../driver.test.ts";
import { MetadataOperation } from "../operation.table.ts";
import { appendPartitions } from "./append-partitions.ts";

function driverWithTopic(partitionsCount: number): Driver {
  const driver = new Driver();
  driver.createStream("s");
  driver.createTopic("s", "t", partitionsCount);
  return driver;
}

const topicOf = (driver: Driver) => driver.metadata.findStream(toIdentifier(0))?.topics.byId(0) as Topic;
const idsOf = (driver: Driver) => topicOf(driver).partitions.map(({ id }) => id);

test("new partitions continue after the highest id and know the op that made them", () => {
  const driver = driverWithTopic(2);
  const { code, effects } = driver.createPartitions("s", "t", 2);
  assert.equal(code, 0);
  assert.deepEqual(idsOf(driver), [0, 1, 2, 3]);
  assert.deepEqual(
    effects.map((effect) => effect.kind === "partition-created" && effect.partition.partitionId),
    [2, 3],
  );
  assert.ok(
    effects.every((effect) => effect.kind === "partition-created" && effect.topic === topicOf(driver)),
  );
  assert.deepEqual(
    topicOf(driver).partitions.map(({ revision }) => revision),
    [3, 3, 4, 4],
  );
});

test("partitions are removed from the end, and their ids come back as other partitions", () => {
  const driver = driverWithTopic(3);
  const { effects } = driver.deletePartitions("s", "t", 2);
  assert.deepEqual(
    effects.map((effect) => effect.kind === "partition-deleted" && effect.partition.partitionId),
    [1, 2],
  );
  driver.createPartitions("s", "t", 1);
  assert.deepEqual(
    topicOf(driver).partitions.map(({ id, revision }) => [id, revision]),
    [
      [0, 3],
      [1, driver.op],
    ],
  );
});

test("more partitions than there are cannot be removed; all of them can", () => {
  const driver = driverWithTopic(2);
  assert.equal(driver.deletePartitions("s", "t", 3).code, ErrorCode.InvalidPartitionsCount);
  assert.deepEqual(idsOf(driver), [0, 1]);
  assert.equal(driver.deletePartitions("s", "t", 2).code, 0);
  assert.deepEqual(idsOf(driver), []);
});

test("the level that is missing is named", () => {
  const driver = driverWithTopic(1);
  assert.equal(driver.createPartitions("x", "t", 1).code, ErrorCode.StreamIdNotFound);
  assert.equal(driver.createPartitions("s", "x", 1).code, ErrorCode.TopicIdNotFound);
  assert.equal(driver.deletePartitions("x", "t", 1).code, ErrorCode.StreamIdNotFound);
  assert.equal(driver.deletePartitions("s", "x", 1).code, ErrorCode.TopicIdNotFound);
});

test("an op that slipped past admission with a count of 0 or above 1000 is rejected when it commits", () => {
  const driver = driverWithTopic(1);
  for (const partitionsCount of [0, 1001]) {
    const body = { stream: toIdentifier("s"), topic: toIdentifier("t"), partitionsCount };
    const created = driver.applyOp(MetadataOperation.createPartitions, encodeCreatePartitions(body));
    const deleted = driver.applyOp(MetadataOperation.deletePartitions, encodeDeletePartitions(body));
    assert.deepEqual([created.code, deleted.code], [2019, 2019]);
  }
  assert.deepEqual(idsOf(driver), [0]);
});

test("the ids of a topic end at a million", () => {
  const last = [{ id: PARTITIONS_PER_TOPIC_MAX - 2, createdAt: 1, revision: 1 }];
  const op = { op: 9, operation: 136, timestamp: 1, client: 0n, user: 0, body: new Uint8Array(0) };
  assert.deepEqual(
    appendPartitions(last, 1, op).map(({ id }) => id),
    [PARTITIONS_PER_TOPIC_MAX - 2, PARTITIONS_PER_TOPIC_MAX - 1],
  );
  assert.throws(() => appendPartitions(last, 2, op), { code: ErrorCode.PartitionIdSpaceExhausted });
});

test("a partition is found by its id even where ids have gaps", () => {
  const driver = driverWithTopic(2);
  const topic = topicOf(driver);
  const gapped = { ...topic, partitions: topic.partitions.map((one) => ({ ...one, id: one.id * 5 })) };
  assert.equal(findPartition(gapped, 5)?.id, 5);
  assert.equal(findPartition(gapped, 1), undefined);
});

test("delete segments says whether its target exists and changes nothing", () => {
  const driver = driverWithTopic(1);
  const before = driver.metadata.streams();
  const body = (stream: string, topic: string, partitionId: number) =>
    encodeDeleteSegments({
      stream: toIdentifier(stream),
      topic: toIdentifier(topic),
      partitionId,
      segmentsCount: 1,
    });
  const codes = [body("s", "t", 0), body("x", "t", 0), body("s", "x", 0), body("s", "t", 1)].map(
    (one) => driver.request(Operation.DeleteSegments, one).code,
  );
  assert.deepEqual(codes, [0, 1009, 2010, 3007]);
  assert.equal(driver.metadata.streams(), before);
});
