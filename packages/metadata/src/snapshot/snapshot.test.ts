import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import {
  encodeCreateStream,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeDeleteUser,
  encodePurgeTopic,
  encodeUpdateStream,
  encodeUpdateTopic,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import { toHex } from "@millrace/testkit";
import fc from "fast-check";
import { Catalog } from "../catalog/catalog.ts";
import type { ApplyResult } from "../committed-op.ts";
import { Driver } from "../driver.test.ts";
import { createMetadata, restoreMetadata } from "../metadata.ts";
import { MetadataOperation } from "../operation.table.ts";
import { encodeDeleteExpiredTokens } from "../tokens/delete-expired-tokens.ts";
import { createToken, createUser, MANAGER, READER } from "../users/users-fixture.test.ts";
import { decodeSnapshot, encodeSnapshot } from "./snapshot-codec.ts";

type Step = (driver: Driver) => ApplyResult;

const name = fc.constantFrom("a", "b", "c", "d");
const target = fc.oneof(name, fc.nat(3));
const places = fc.record({ stream: target, topic: target });
const idsOf = (at: { stream: string | number; topic: string | number }) => ({
  stream: toIdentifier(at.stream),
  topic: toIdentifier(at.topic),
});

/** Everything the catalog can do, on few enough names that ops meet each other. */
const step: fc.Arbitrary<Step> = fc.oneof(
  name.map<Step>((text) => (driver) => driver.createStream(text)),
  fc.tuple(target, name, fc.nat(3)).map<Step>(
    ([at, text, count]) =>
      (driver) =>
        driver.createTopic(at, text, count, [
          { key: "message_expiry", value: typedField("uint64", BigInt(count)) },
        ]),
  ),
  fc.tuple(target, name).map<Step>(
    ([at, text]) =>
      (driver) =>
        driver.request(
          Operation.UpdateStream,
          encodeUpdateStream({ stream: toIdentifier(at), name: text, options: [] }),
        ),
  ),
  fc.tuple(places, name, fc.nat(2)).map<Step>(([at, text, code]) => (driver) => {
    const options = [{ key: "message_expiry", value: typedField("string", `${code}days`) }];
    return driver.request(Operation.UpdateTopic, encodeUpdateTopic({ ...idsOf(at), name: text, options }));
  }),
  target.map<Step>(
    (at) => (driver) =>
      driver.request(Operation.DeleteStream, encodeDeleteStream({ stream: toIdentifier(at) })),
  ),
  places.map<Step>((at) => (driver) => driver.request(Operation.DeleteTopic, encodeDeleteTopic(idsOf(at)))),
  places.map<Step>((at) => (driver) => driver.request(Operation.PurgeTopic, encodePurgeTopic(idsOf(at)))),
  fc.tuple(places, fc.integer({ min: 1, max: 3 })).map<Step>(
    ([at, count]) =>
      (driver) =>
        driver.createPartitions(at.stream, at.topic, count),
  ),
  fc.tuple(places, fc.integer({ min: 1, max: 3 })).map<Step>(
    ([at, count]) =>
      (driver) =>
        driver.deletePartitions(at.stream, at.topic, count),
  ),
  fc.tuple(name, fc.constantFrom(undefined, READER, MANAGER)).map<Step>(
    ([text, permissions]) =>
      (driver) =>
        createUser(driver, `user-${text}`, permissions),
  ),
  name.map<Step>(
    (text) => (driver) =>
      driver.request(Operation.DeleteUser, encodeDeleteUser({ user: toIdentifier(`user-${text}`) })),
  ),
  fc.tuple(name, fc.nat(3), fc.nat(9)).map<Step>(
    ([text, user, number]) =>
      (driver) =>
        createToken(driver, { name: text, number, expiryMicros: BigInt(number) }, user),
  ),
  fc.nat(3).map<Step>((userId) => (driver) => {
    const body = encodeDeleteExpiredTokens(["a", "b"].map((text) => ({ userId, name: text })));
    return driver.applyOp(MetadataOperation.deleteExpiredTokens, body);
  }),
);
const history = fc.array(step, { maxLength: 40 });

test("a catalog restored at any point goes on exactly like the one that was never stopped", () => {
  fc.assert(
    fc.property(history, history, (before, after) => {
      const driver = new Driver();
      for (const one of before) one(driver);
      const restored = new Driver(restoreMetadata(driver.metadata.encodeSnapshot()));
      assert.equal(restored.op, driver.op);
      assert.deepEqual(restored.metadata.streams(), driver.metadata.streams());
      assert.deepEqual(restored.metadata.users(), driver.metadata.users());
      for (const one of after) assert.deepEqual(one(restored), one(driver));
      assert.deepEqual(restored.metadata.encodeSnapshot(), driver.metadata.encodeSnapshot());
      assert.deepEqual(restored.metadata.counts(), driver.metadata.counts());
    }),
    { numRuns: 150 },
  );
});

test("two catalogs that were given the same ops have equal snapshots", () => {
  fc.assert(
    fc.property(history, (steps) => {
      const [one, other] = [new Driver(), new Driver()];
      for (const each of steps) assert.deepEqual(each(one), each(other));
      assert.deepEqual(one.metadata.encodeSnapshot(), other.metadata.encodeSnapshot());
    }),
    { numRuns: 60 },
  );
});

test("a user keeps status, hash, permissions and tokens through a snapshot", () => {
  const catalog = new Catalog();
  const flags = { manageTopic: true, readTopic: false, pollMessages: true, sendMessages: false };
  const stream = { manageStream: false, readStream: true, manageTopics: false, readTopics: false };
  const streams = new Map([
    [3, { ...stream, pollMessages: false, sendMessages: true, topics: new Map([[4, flags]]) }],
  ]);
  const global = {
    manageServers: false,
    readServers: true,
    manageUsers: false,
    readUsers: false,
    manageStreams: false,
    readStreams: false,
    manageTopics: false,
    readTopics: false,
    pollMessages: false,
    sendMessages: false,
  };
  const alice = { id: 1, name: "alice", status: 2 as const, passwordHash: "h", createdAt: 5, revision: 7 };
  const tokens = [
    { name: "one", digest: "0".repeat(64), expiryAt: 0n },
    { name: "two", digest: "f".repeat(64), expiryAt: 2n ** 64n - 1n },
  ];
  catalog.users.add({ ...alice, tokens, permissions: { global, streams } });
  assert.deepEqual(decodeSnapshot(encodeSnapshot(catalog)).users.list(), catalog.users.list());
});

test("an empty catalog is these bytes", () => {
  const sections =
    "01000000" + "02000000" + "04000000" + "00000000" + "02000000" + "01000000" + "04000000" + "00000000";
  const groups = "04000000" + "01000000" + "04000000" + "00000000";
  assert.equal(
    toHex(createMetadata().encodeSnapshot()),
    `01000000${"00".repeat(8)}03000000${sections}${groups}`,
  );
});

function sample(): Uint8Array {
  const driver = new Driver();
  driver.createStream("s");
  driver.createTopic("s", "t", 2);
  driver.request(Operation.CreateStream, encodeCreateStream({ name: "u", options: [] }));
  return driver.metadata.encodeSnapshot();
}

test("a snapshot cut short, or one with bytes after it, is damaged, and says where", () => {
  const bytes = sample();
  for (let length = 0; length < bytes.length; length += 1) assertDamaged(bytes.slice(0, length));
  assertDamaged(Uint8Array.of(...bytes, 0));
});

test("whichever byte of a snapshot changes, restoring it gives a catalog or a coded error", () => {
  const bytes = sample();
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (position, flip) => {
      const mutated = bytes.slice();
      mutated[position] = (mutated[position] as number) ^ flip;
      try {
        restoreMetadata(mutated);
      } catch (error) {
        assert.ok(
          isCodedError(error, ErrorCode.MetadataDamaged) || isCodedError(error, ErrorCode.FormatTooNew),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test("a version or a section of a later release is refused as too new", () => {
  const positions = { version: 0, sectionId: 16, sectionVersion: 20 };
  for (const position of Object.values(positions)) {
    const bytes = sample();
    bytes[position] = 9;
    assert.throws(
      () => restoreMetadata(bytes),
      (error) => isCodedError(error, ErrorCode.FormatTooNew),
    );
  }
});

test("a snapshot from before a section existed leaves its part empty", () => {
  const bytes = createMetadata().encodeSnapshot();
  const header = bytes.slice(0, 16);
  header[12] = 0;
  assert.equal(restoreMetadata(header).streams().length, 0);
});

test("two members with one name, or ids that do not ascend, are damage", () => {
  const text = new TextEncoder().encode("u");
  const bytes = sample();
  const at = bytes.lastIndexOf(text[0] as number);
  bytes[at] = "s".charCodeAt(0);
  assertDamaged(bytes);
});

function assertDamaged(bytes: Uint8Array): void {
  assert.throws(
    () => restoreMetadata(bytes),
    (error) =>
      isCodedError(error, ErrorCode.MetadataDamaged) && typeof error.details["position"] === "number",
  );
}
