import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeCreateUserReply,
  encodeCreateStream,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeDeleteUser,
  Operation,
  toIdentifier,
  USERS_MAX,
} from "@millrace/protocol";
import { Driver } from "../driver.test.ts";
import { MetadataOperation } from "../operation.table.ts";
import { encodeChangePasswordOp } from "./change-password-op.ts";
import { createUser, MANAGER, READER, updatePermissions, updateUser } from "./users-fixture.test.ts";

function deleteUser(driver: Driver, user: string | number, by = 0) {
  return driver.request(Operation.DeleteUser, encodeDeleteUser({ user: toIdentifier(user) }), by);
}

function changePassword(driver: Driver, user: string | number, revision: number | undefined, by = 0) {
  const checked = revision === undefined ? undefined : { revision, passwordHash: "$hash$new" };
  const body = encodeChangePasswordOp({ user: toIdentifier(user), checked });
  return driver.applyOp(MetadataOperation.changePassword, body, by);
}

test("a server has 65 536 users, root among them, and a deleted one makes room", () => {
  const driver = new Driver();
  for (let count = 1; count < USERS_MAX; count += 1) createUser(driver, `user-${count}`);
  assert.equal(createUser(driver, "user-7").code, ErrorCode.UserAlreadyExists);
  assert.equal(createUser(driver, "one more").code, ErrorCode.TooManyUsers);
  assert.equal(deleteUser(driver, "user-7").code, 0);
  assert.equal(decodeCreateUserReply(createUser(driver, "one more").body).id, 7);
});

test("a created user is answered in full: lowest free id, the op's time, status and permissions", () => {
  const driver = new Driver();
  const { code, body, effects } = createUser(driver, "alice", MANAGER, { status: 2 });
  assert.equal(code, 0);
  assert.deepEqual(effects, [{ kind: "user-changed", user: 1 }]);
  assert.deepEqual(decodeCreateUserReply(body), {
    id: 1,
    createdAt: driver.op * 1000,
    status: "inactive",
    username: "alice",
    options: [],
    permissions: MANAGER,
  });
  createUser(driver, "bob");
  assert.equal(deleteUser(driver, "alice").code, 0);
  assert.equal(decodeCreateUserReply(createUser(driver, "carol").body).id, 1);
  assert.equal(driver.metadata.userByName("bob")?.permissions, undefined);
});

test("a user name has 3 to 50 bytes and is nobody else's, at creation and when it changes", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  const codes = ["ab", "a".repeat(51), "ü".repeat(26), "alice", "iggy"].map(
    (name) => createUser(driver, name).code,
  );
  assert.deepEqual(codes, [43, 43, 43, 46, 46]);
  assert.equal(createUser(driver, "ü".repeat(25)).code, 0);
  const renamed = ["ab", "iggy", "alice", "alice2"].map(
    (username) => updateUser(driver, "alice", { username }).code,
  );
  assert.deepEqual(renamed, [43, 46, 0, 0]);
  assert.equal(driver.metadata.userByName("alice"), undefined);
  assert.equal(updateUser(driver, "alice", { username: "other" }).code, ErrorCode.ResourceNotFound);
});

test("an update changes what it names and leaves the rest", () => {
  const driver = new Driver();
  createUser(driver, "alice", MANAGER);
  const before = driver.metadata.userById(1);
  assert.equal(updateUser(driver, 1, { status: "inactive" }).code, 0);
  assert.deepEqual(driver.metadata.userById(1), { ...before, status: 2 });
  assert.equal(updateUser(driver, 1, {}).code, 0);
  assert.deepEqual(driver.metadata.userById(1), { ...before, status: 2 });
});

test("root can be renamed, but not deleted, made inactive or given permissions", () => {
  const driver = new Driver();
  assert.equal(deleteUser(driver, 0).code, ErrorCode.CannotDeleteUser);
  assert.equal(deleteUser(driver, "iggy").code, ErrorCode.CannotDeleteUser);
  for (const permissions of [undefined, MANAGER]) {
    assert.equal(updatePermissions(driver, 0, permissions).code, ErrorCode.CannotChangePermissions);
  }
  assert.equal(updateUser(driver, 0, { status: "inactive" }).code, ErrorCode.CannotChangePermissions);
  assert.equal(updateUser(driver, 0, { username: "admin" }).code, 0);
  assert.deepEqual([driver.metadata.userById(0)?.name, driver.metadata.userById(0)?.status], ["admin", 1]);
});

test("only who manages users changes users; what is missing is told first", () => {
  const driver = new Driver();
  createUser(driver, "reader", READER);
  createUser(driver, "manager", MANAGER);
  const attempts = (by: number) => [
    createUser(driver, "victim", undefined, { by }).code,
    updateUser(driver, "victim", { username: "victim" }, by).code,
    updatePermissions(driver, "victim", READER, by).code,
    changePassword(driver, "victim", driver.metadata.userByName("victim")?.revision, by).code,
    deleteUser(driver, "victim", by).code,
  ];
  assert.deepEqual(attempts(2), [0, 0, 0, 0, 0]);
  assert.deepEqual(attempts(1), [41, 20, 20, 20, 20]);
  createUser(driver, "victim");
  assert.deepEqual(attempts(1), [41, 41, 41, 41, 41]);
  assert.deepEqual(attempts(99), [41, 41, 41, 41, 41]);
});

test("permissions are replaced as a whole, and taken away by none", () => {
  const driver = new Driver();
  createUser(driver, "alice", MANAGER);
  assert.equal(updatePermissions(driver, "alice", READER).code, 0);
  assert.deepEqual(driver.metadata.userById(1)?.permissions, READER);
  assert.equal(updatePermissions(driver, "alice", undefined).code, 0);
  assert.equal(driver.metadata.userById(1)?.permissions, undefined);
  assert.equal(updatePermissions(driver, "nobody", READER).code, ErrorCode.ResourceNotFound);
});

test("a password changes when the current one was right, by its owner or a manager", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  const revision = driver.metadata.userById(1)?.revision;
  const hash = () => driver.metadata.userById(1)?.passwordHash;
  assert.equal(changePassword(driver, "alice", undefined, 1).code, ErrorCode.InvalidCredentials);
  assert.equal(changePassword(driver, "alice", undefined, 0).code, ErrorCode.InvalidCredentials);
  assert.equal(hash(), "$hash$alice");
  assert.equal(changePassword(driver, "alice", revision, 1).code, 0);
  assert.equal(hash(), "$hash$new");
  assert.equal(changePassword(driver, "nobody", revision).code, ErrorCode.ResourceNotFound);
});

test("a password that was checked for a deleted user is not given to the one who has his id now", () => {
  const driver = new Driver();
  createUser(driver, "alice");
  const revision = driver.metadata.userById(1)?.revision;
  deleteUser(driver, 1);
  createUser(driver, "alice");
  assert.equal(changePassword(driver, 1, revision).code, ErrorCode.InvalidCredentials);
  assert.equal(driver.metadata.userById(1)?.passwordHash, "$hash$alice");
});

test("rights on a stream or topic go with it, so what gets the id is not open to whom the old one was", () => {
  const driver = new Driver();
  for (const name of ["s", "other"]) {
    driver.createStream(name);
    driver.createTopic(name, "t");
    driver.createTopic(name, "u");
  }
  const topicRights = { manageTopic: true, readTopic: true, pollMessages: true, sendMessages: true };
  const streamRights = {
    manageStream: true,
    readStream: true,
    manageTopics: true,
    readTopics: true,
    pollMessages: true,
    sendMessages: true,
    topics: new Map([
      [0, topicRights],
      [1, topicRights],
    ]),
  };
  const streams = new Map([
    [0, streamRights],
    [1, streamRights],
  ]);
  createUser(driver, "alice", { ...MANAGER, streams });
  createUser(driver, "bob");
  const shape = () =>
    [...(driver.metadata.userById(1)?.permissions?.streams ?? [])].map(([id, { topics }]) => [
      id,
      [...topics.keys()],
    ]);
  const target = { stream: toIdentifier(1), topic: toIdentifier(0) };
  assert.equal(driver.request(Operation.DeleteTopic, encodeDeleteTopic(target)).code, 0);
  assert.deepEqual(shape(), [
    [0, [0, 1]],
    [1, [1]],
  ]);
  assert.equal(
    driver.request(Operation.DeleteStream, encodeDeleteStream({ stream: toIdentifier("s") })).code,
    0,
  );
  assert.deepEqual(shape(), [[1, [1]]]);
  assert.deepEqual(driver.metadata.userById(1)?.permissions?.global, MANAGER.global);
  assert.equal(driver.metadata.userById(2)?.permissions, undefined);
});

test("an op of a session that is older than the user with its id is nobody's", () => {
  const driver = new Driver();
  createUser(driver, "alice", { ...MANAGER, global: { ...MANAGER.global, manageStreams: true } });
  const session = driver.op;
  const op = {
    operation: MetadataOperation.createStream,
    timestamp: 1,
    client: 7n,
    user: 1,
    session,
    body: encodeCreateStream({ name: "s", options: [] }),
  };
  driver.op += 1;
  assert.equal(driver.metadata.apply({ ...op, op: driver.op }).code, 0);
  deleteUser(driver, 1);
  createUser(driver, "bob", driver.metadata.userById(1)?.permissions ?? MANAGER);
  driver.op += 1;
  const body = encodeDeleteUser({ user: toIdentifier("bob") });
  const late = { ...op, op: driver.op, operation: MetadataOperation.deleteUser, body };
  assert.equal(driver.metadata.apply(late).code, ErrorCode.Unauthorized);
  assert.equal(driver.metadata.userById(1)?.name, "bob");
});
