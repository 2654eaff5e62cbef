import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteTopic,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import fc from "fast-check";
import { Driver } from "./driver.test.ts";
import { createMetadata } from "./metadata.ts";
import { MetadataOperation } from "./operation.table.ts";

const stream = encodeCreateStream({ name: "s", options: [] });

test("an op that was applied before is a no-op with its code", () => {
  const driver = new Driver();
  driver.createStream("s");
  const before = driver.metadata.encodeSnapshot();
  const op = { op: driver.op, operation: 128, timestamp: 1, client: 0n, user: 0, body: stream };
  assert.equal(driver.metadata.apply(op).code, ErrorCode.RequestAlreadyApplied);
  assert.equal(driver.metadata.apply({ ...op, op: 1 }).code, ErrorCode.RequestAlreadyApplied);
  assert.deepEqual(driver.metadata.encodeSnapshot(), before);
});

test("Register and Logout count as applied and change nothing", () => {
  const driver = new Driver();
  for (const operation of [MetadataOperation.register, MetadataOperation.logout]) {
    const result = driver.applyOp(operation, new Uint8Array(0));
    assert.deepEqual(result, { code: 0, body: new Uint8Array(0), effects: [] });
    assert.equal(driver.metadata.appliedOp, driver.op);
  }
});

test("an operation the catalog does not know is rejected as unavailable", () => {
  const driver = new Driver();
  for (const operation of [0, 2, Operation.CreateTopic, Operation.SendMessages, 255]) {
    assert.equal(driver.applyOp(operation, stream).code, ErrorCode.FeatureUnavailable, String(operation));
  }
});

test("what a user may not do is rejected, once its target was found", () => {
  const driver = new Driver();
  driver.createStream("s");
  driver.createTopic("s", "t");
  const stranger = 7;
  const deletion = (topic: string) =>
    encodeDeleteTopic({ stream: toIdentifier("s"), topic: toIdentifier(topic) });
  const codes = [
    driver.request(Operation.CreateStream, encodeCreateStream({ name: "x", options: [] }), stranger).code,
    driver.request(Operation.DeleteTopic, deletion("t"), stranger).code,
    driver.request(Operation.DeleteTopic, deletion("missing"), stranger).code,
  ];
  assert.deepEqual(codes, [ErrorCode.Unauthorized, ErrorCode.Unauthorized, ErrorCode.TopicIdNotFound]);
  assert.deepEqual(driver.metadata.counts(), { streams: 1, topics: 1, partitions: 1, users: 1, groups: 0 });
});

test("before root exists nobody may change anything", () => {
  const op = { op: 1, operation: 128, timestamp: 1, client: 0n, user: 0, body: stream };
  assert.equal(createMetadata().apply(op).code, ErrorCode.Unauthorized);
});

test("whatever bytes an op holds, it comes to a result and a rejected one changes nothing", () => {
  const operations = [...Object.values(MetadataOperation), 0, 65, 132, 139, 255];
  const good = encodeCreateTopic({ stream: toIdentifier("s"), name: "u", partitionsCount: 1, options: [] });
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([position, byte]) => {
      const mutated = good.slice();
      mutated[position] = byte;
      return mutated;
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...operations), bodies, (operation, body) => {
      const driver = new Driver();
      driver.createStream("s");
      driver.createTopic("s", "t");
      const before = driver.metadata.streams();
      const { code, effects } = driver.applyOp(operation, body);
      assert.equal(driver.metadata.appliedOp, driver.op);
      if (code === 0) return;
      assert.equal(effects.length, 0);
      assert.equal(driver.metadata.streams(), before);
    }),
    { numRuns: 400 },
  );
});
