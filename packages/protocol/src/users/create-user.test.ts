import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCase, toHex } from "@millrace/testkit";
import { decodeCreateUser, encodeCreateUser } from "./create-user.ts";
import { decodeGetUserReply } from "./get-user.ts";
import { decodeUpdateUser } from "./update-user.ts";

const CREATE = goldenCase("request/create_user_no_permissions").expected_hex ?? "";
const UPDATE = goldenCase("request/update_user").expected_hex ?? "";

test("a status other than 2 creates an active user", () => {
  for (const [byte, status] of [
    ["02", "inactive"],
    ["00", "active"],
    ["ff", "active"],
  ] as const) {
    assert.equal(decodeCreateUser(fromHex(`${CREATE.slice(0, -4)}${byte}00`)).status, status);
  }
});

test("a status other than 1 and 2 updates nothing", () => {
  for (const [byte, status] of [
    ["01", "active"],
    ["02", "inactive"],
    ["03", undefined],
  ] as const) {
    assert.equal(decodeUpdateUser(fromHex(`${UPDATE.slice(0, -2)}${byte}`)).status, status);
  }
});

test("a password that UTF-8 cannot express is refused, not replaced", () => {
  const user = {
    username: "alice",
    password: "\ud800",
    status: "active",
    permissions: undefined,
    options: [],
  } as const;
  assert.throws(
    () => encodeCreateUser(user),
    (error) => isWireError(error, "invalid_utf8"),
  );
});

test("an absent user is an empty reply and a user without permissions ends with four zero bytes", () => {
  assert.equal(decodeGetUserReply(new Uint8Array(0)), undefined);
  const hex = goldenCase("response/get_user_without_permissions").expected_hex ?? "";
  assert.equal(decodeGetUserReply(fromHex(hex))?.permissions, undefined);
  assert.equal(toHex(fromHex(hex).subarray(-4)), "00000000");
});
