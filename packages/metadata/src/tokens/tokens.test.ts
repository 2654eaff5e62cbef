import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeDeletePersonalAccessToken,
  encodeDeleteUser,
  Operation,
  toIdentifier,
  U64_MAX,
} from "@millrace/protocol";
import { Driver } from "../driver.test.ts";
import { restoreMetadata } from "../metadata.ts";
import { MetadataOperation } from "../operation.table.ts";
import { createToken, createUser, digestOf } from "../users/users-fixture.test.ts";
import { encodeDeleteExpiredTokens } from "./delete-expired-tokens.ts";

function deleteToken(driver: Driver, name: string, by: number) {
  return driver.request(Operation.DeletePersonalAccessToken, encodeDeletePersonalAccessToken({ name }), by);
}

const namesOf = (driver: Driver, user: number) =>
  driver.metadata.userById(user)?.tokens.map(({ name }) => name);

test("a token is found by its digest, and its op answers nothing that could be kept", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  const { code, body, effects } = createToken(driver, { name: "ci", number: 1 }, 1);
  assert.deepEqual([code, body.length, effects.length], [0, 0, 0]);
  const holder = driver.metadata.userByToken(digestOf(1));
  assert.deepEqual([holder?.user.name, holder?.token.name, holder?.token.expiryAt], ["alice", "ci", 0n]);
  assert.equal(driver.metadata.userByToken(digestOf(2)), undefined);
});

test("token names are unique for one user, digests for all", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  const codes = [
    createToken(driver, { name: "ci", number: 1 }, 1).code,
    createToken(driver, { name: "ci", number: 2 }, 1).code,
    createToken(driver, { name: "ci", number: 1 }, 0).code,
    createToken(driver, { name: "ci", number: 3 }, 0).code,
    createToken(driver, { name: "ci", number: 4 }, 99).code,
  ];
  assert.deepEqual(codes, [0, 51, 51, 0, 41]);
});

test("an expiry counts from the op's time; 0 and the maximum mean never, too late is 56", () => {
  const driver = new Driver();
  const expiryOf = (expiryMicros: bigint, name: string, number: number) => {
    const { code } = createToken(driver, { name, number, expiryMicros });
    return code === 0 ? driver.metadata.userByToken(digestOf(number))?.token.expiryAt : code;
  };
  assert.equal(expiryOf(0n, "a", 1), 0n);
  assert.equal(expiryOf(U64_MAX, "b", 2), 0n);
  assert.equal(expiryOf(5n, "c", 3), BigInt(driver.op * 1000) + 5n);
  assert.equal(expiryOf(U64_MAX - 1n, "d", 4), ErrorCode.InvalidPersonalAccessTokenExpiry);
  assert.equal(expiryOf(U64_MAX - BigInt((driver.op + 1) * 1000), "e", 5), U64_MAX);
});

test("a user deletes his own tokens only, and his tokens go with him", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  createToken(driver, { name: "one", number: 1 }, 1);
  createToken(driver, { name: "two", number: 2 }, 1);
  assert.equal(deleteToken(driver, "one", 0).code, ErrorCode.ResourceNotFound);
  assert.equal(deleteToken(driver, "one", 1).code, 0);
  assert.equal(deleteToken(driver, "one", 1).code, ErrorCode.ResourceNotFound);
  assert.deepEqual([namesOf(driver, 1), driver.metadata.userByToken(digestOf(1))], [["two"], undefined]);
  driver.request(Operation.DeleteUser, encodeDeleteUser({ user: toIdentifier("alice") }));
  assert.equal(driver.metadata.userByToken(digestOf(2)), undefined);
  createUser(driver, "bob");
  assert.deepEqual(namesOf(driver, 1), []);
});

test("expired tokens are found up to a count and deleted only if they are expired by then", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  createToken(driver, { name: "short", number: 1, expiryMicros: 1n }, 1);
  createToken(driver, { name: "long", number: 2, expiryMicros: 1_000_000n }, 1);
  createToken(driver, { name: "never", number: 3 }, 1);
  createToken(driver, { name: "short", number: 4, expiryMicros: 1n }, 0);
  const now = driver.op * 1000 + 1;
  const both = [
    { userId: 0, name: "short" },
    { userId: 1, name: "short" },
  ];
  assert.deepEqual(driver.metadata.expiredTokens(now, 10), both);
  assert.deepEqual(driver.metadata.expiredTokens(now, 1), both.slice(0, 1));
  assert.deepEqual(driver.metadata.expiredTokens(now - 5000, 10), []);
  const named = ["short", "long", "never", "missing"].map((name) => ({ userId: 1, name }));
  const body = encodeDeleteExpiredTokens([...named, { userId: 42, name: "short" }]);
  assert.equal(driver.applyOp(MetadataOperation.deleteExpiredTokens, body).code, 0);
  assert.deepEqual([namesOf(driver, 0), namesOf(driver, 1)], [["short"], ["long", "never"]]);
});

test("tokens and the index of their digests come back from a snapshot", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  createToken(driver, { name: "ci", number: 1, expiryMicros: 7n }, 1);
  const restored = restoreMetadata(driver.metadata.encodeSnapshot());
  assert.deepEqual(restored.userByToken(digestOf(1)), driver.metadata.userByToken(digestOf(1)));
  assert.deepEqual(restored.users(), driver.metadata.users());
});

test("a snapshot from before there were tokens is read: users without any", () => {
  const bytes = new Driver().metadata.encodeSnapshot();
  const sectionAt = 16;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const length = view.getUint32(sectionAt + 8, true);
  const end = sectionAt + 12 + length;
  const old = Uint8Array.from([...bytes.subarray(0, end - 12), ...bytes.subarray(end)]);
  const oldView = new DataView(old.buffer);
  oldView.setUint32(sectionAt + 4, 1, true);
  oldView.setUint32(sectionAt + 8, length - 12, true);
  const [root] = restoreMetadata(old).users();
  assert.deepEqual([root?.name, root?.revision, root?.tokens], ["iggy", 0, []]);
});
