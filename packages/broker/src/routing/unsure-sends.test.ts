import assert from "node:assert/strict";
import { test } from "node:test";
import type { Topic } from "@millrace/metadata";
import { REQUESTS_PER_CLIENT_MAX } from "@millrace/storage";
import { UnsureSends } from "./unsure-sends.ts";

const topicOf = (streamId: number, id: number) => ({ streamId, id }) as Topic;

test("Where a send went is known for its topic until it is stored.", () => {
  const unsure = new UnsureSends();
  unsure.note(7n, { streamId: 1, topicId: 2, partitionId: 3 });
  assert.equal(unsure.partitionOf(7n, topicOf(1, 2)), 3);
  assert.equal(unsure.partitionOf(8n, topicOf(1, 2)), undefined);
  assert.equal(unsure.partitionOf(7n, topicOf(1, 0)), undefined);
  assert.equal(unsure.partitionOf(7n, topicOf(0, 2)), undefined);
  unsure.settled(7n);
  assert.equal(unsure.partitionOf(7n, topicOf(1, 2)), undefined);
});

test("A client that is told so of ever new sends fills no memory: the oldest are forgotten.", () => {
  const unsure = new UnsureSends();
  const place = { streamId: 0, topicId: 0, partitionId: 0 };
  for (let number = 0; number <= REQUESTS_PER_CLIENT_MAX; number += 1) unsure.note(BigInt(number), place);
  assert.equal(unsure.partitionOf(0n, topicOf(0, 0)), undefined);
  assert.equal(unsure.partitionOf(1n, topicOf(0, 0)), 0);
});
