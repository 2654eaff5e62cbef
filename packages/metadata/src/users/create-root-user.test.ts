import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { toIdentifier } from "@millrace/protocol";
import { Driver, ROOT } from "../driver.test.ts";
import { createMetadata } from "../metadata.ts";
import { MetadataOperation } from "../operation.table.ts";
import { encodeCreateRootUser } from "./root-user-op.ts";

test("the first user is root: id 0, active, with the hash it was given and no explicit permissions", () => {
  const metadata = createMetadata();
  const body = encodeCreateRootUser(ROOT);
  const op = { op: 1, operation: MetadataOperation.createRootUser, timestamp: 77, client: 0n, user: 0, body };
  assert.deepEqual(metadata.apply(op).effects, [{ kind: "user-changed", user: 0 }]);
  const root = metadata.userByName(ROOT.name);
  assert.deepEqual(root, {
    id: 0,
    status: 1,
    permissions: undefined,
    createdAt: 77,
    revision: 1,
    tokens: [],
    ...ROOT,
  });
  assert.equal(metadata.userById(0), root);
  assert.equal(metadata.findUser(toIdentifier("iggy")), root);
  assert.deepEqual(metadata.users(), [root]);
});

test("there is one root: a second is a committed op without effect", () => {
  const driver = new Driver();
  const body = encodeCreateRootUser({ name: "other", passwordHash: "x" });
  assert.equal(driver.applyOp(MetadataOperation.createRootUser, body).code, ErrorCode.UserAlreadyExists);
  assert.equal(driver.metadata.userByName("other"), undefined);
  assert.equal(driver.metadata.users().length, 1);
});
