import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import {
  encodeCreatePartitions,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeletePartitions,
  encodeDeleteSegments,
  encodeUpdateStream,
  encodeUpdateTopic,
  Operation,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { fromHex, goldenCase } from "@millrace/testkit";
import fc from "fast-check";
import { decodeCreateTopicOp } from "../topics/create-topic-op.ts";
import { decodeUpdateTopicOp } from "../topics/update-topic-op.ts";
import { admitRequest } from "./admit-request.ts";

const topic = { stream: toIdentifier("s"), topic: toIdentifier("t") };
const text = (key: string, value: string): OptionEntries => [{ key, value: typedField("string", value) }];

function codeOf(operation: number, body: Uint8Array): number {
  try {
    admitRequest(operation, body);
    return 0;
  } catch (error) {
    assert.ok(isCodedError(error), String(error));
    return error.code;
  }
}

test("most requests go into the log as they came", () => {
  const name = "request/create_stream";
  const body = fromHex(goldenCase(name).expected_hex ?? "");
  assert.deepEqual(admitRequest(Operation.CreateStream, body), { operation: 128, body });
  const segments = encodeDeleteSegments({ ...topic, partitionId: 0, segmentsCount: 1 });
  assert.deepEqual(admitRequest(Operation.DeleteSegments, segments), { operation: 68, body: segments });
});

test("CreateTopic becomes operation 64 with its options resolved", () => {
  const body = fromHex(goldenCase("request/create_topic_with_options").expected_hex ?? "");
  const admitted = admitRequest(Operation.CreateTopic, body);
  const op = decodeCreateTopicOp(admitted.body);
  assert.deepEqual([admitted.operation, op.name, op.partitionsCount], [64, "events", 4]);
  assert.deepEqual(op.stream, { kind: "name", name: "orders" });
  assert.equal(op.explicit.size + op.derived.size, 9);
  assert.equal(op.settings.durability, "persisted");
});

test("UpdateTopic keeps its operation and says what it comes to", () => {
  const body = fromHex(goldenCase("request/update_topic").expected_hex ?? "");
  const admitted = admitRequest(Operation.UpdateTopic, body);
  const op = decodeUpdateTopicOp(admitted.body);
  assert.deepEqual(
    [admitted.operation, op.name, [...op.options.keys()]],
    [133, "events", ["message_expiry"]],
  );
  assert.deepEqual(Object.keys(op.change), ["messageExpiry"]);
});

test("every recorded metadata request of this issue is admitted", () => {
  const requests: readonly (readonly [string, number])[] = [
    ["request/update_stream", Operation.UpdateStream],
    ["request/get_stream", Operation.DeleteStream],
    ["request/get_stream", Operation.PurgeStream],
    ["request/create_topic_no_options", Operation.CreateTopic],
    ["request/get_topic", Operation.DeleteTopic],
    ["request/get_topic", Operation.PurgeTopic],
    ["request/create_partitions", Operation.CreatePartitions],
    ["request/create_partitions", Operation.DeletePartitions],
    ["request/delete_segments", Operation.DeleteSegments],
    ["request/update_user", Operation.UpdateUser],
    ["request/update_permissions", Operation.UpdatePermissions],
    ["request/delete_personal_access_token", Operation.DeletePersonalAccessToken],
  ];
  for (const [name, operation] of requests) {
    assert.equal(codeOf(operation, fromHex(goldenCase(name).expected_hex ?? "")), 0, name);
  }
});

test("a count of partitions outside its bounds is 2015; a topic may start with none", () => {
  const create = (partitionsCount: number) =>
    encodeCreateTopic({ stream: topic.stream, name: "t", partitionsCount, options: [] });
  assert.deepEqual(
    [0, 1000, 1001].map((count) => codeOf(Operation.CreateTopic, create(count))),
    [0, 0, 2015],
  );
  for (const [operation, encode] of [
    [Operation.CreatePartitions, encodeCreatePartitions],
    [Operation.DeletePartitions, encodeDeletePartitions],
  ] as const) {
    const codes = [0, 1, 1000, 1001].map((partitionsCount) =>
      codeOf(operation, encode({ ...topic, partitionsCount })),
    );
    assert.deepEqual(codes, [2015, 0, 0, 2015]);
  }
});

test("options are refused before they cost an op", () => {
  const create = (options: OptionEntries) =>
    encodeCreateTopic({ stream: topic.stream, name: "t", partitionsCount: 1, options });
  const update = (options: OptionEntries) => encodeUpdateTopic({ ...topic, name: "t", options });
  const codes = [
    codeOf(Operation.CreateStream, encodeCreateStream({ name: "s", options: text("any", "x") })),
    codeOf(
      Operation.UpdateStream,
      encodeUpdateStream({ stream: topic.stream, name: "s", options: text("any", "x") }),
    ),
    codeOf(Operation.CreateTopic, create(text("enforce_fsync", "true"))),
    codeOf(Operation.CreateTopic, create(text("durability", "maybe"))),
    codeOf(Operation.CreateTopic, create(text("max_topic_size", "1 MiB"))),
    codeOf(Operation.UpdateTopic, update(text("segment_size", "1 MiB"))),
    codeOf(Operation.UpdateTopic, update(text("message_expiry", "soon"))),
  ];
  assert.deepEqual(codes, [4041, 4041, 4041, 4042, 1019, 4041, 4042]);
});

test("an operation that is none of the catalog, or that carries a secret, is not admitted here", () => {
  for (const operation of [
    Operation.CreateUser,
    Operation.ChangePassword,
    Operation.CreatePersonalAccessToken,
    Operation.SendMessages,
    64,
    201,
    255,
  ]) {
    assert.equal(codeOf(operation, new Uint8Array(0)), ErrorCode.FeatureUnavailable);
  }
});

test("an undecodable body is 3 and says where", () => {
  assert.throws(
    () => admitRequest(Operation.DeleteStream, Uint8Array.of(9, 4, 0, 0, 0, 0)),
    (error) => isCodedError(error, ErrorCode.InvalidCommand) && error.details["position"] === 0,
  );
});

test("any bytes are admitted or refused by code", () => {
  const operations = fc.integer({ min: 128, max: 138 });
  fc.assert(
    fc.property(
      operations,
      fc.uint8Array({ maxLength: 60 }),
      (operation, body) => codeOf(operation, body) >= 0,
    ),
    { numRuns: 500 },
  );
});
