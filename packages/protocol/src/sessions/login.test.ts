import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCase, goldenCases, toHex } from "@millrace/testkit";
import { decodeResultSection, encodeResultSuccess } from "../result-section.ts";
import { decodeLoginRegister, decodeVersionPrefix, encodeLoginRegister } from "./login-register.ts";
import { decodeLoginRegisterWithPat, encodeLoginRegisterWithPat } from "./login-register-with-pat.ts";
import { decodeLoginReply, encodeLoginReply } from "./login-reply.ts";

for (const one of goldenCases("login")) {
  test(`${one.name} is written and read as recorded`, () => {
    const { protocol_version, sdk_name, sdk_version, username, password, token, context } = one.input;
    const prefix = { protocolVersion: protocol_version, sdkName: sdk_name, sdkVersion: sdk_version };
    const rest = { context: context ?? "" };
    const body = fromHex(one.expected_hex ?? "");
    if (token === undefined) {
      const login = { ...prefix, username, password, ...rest };
      assert.equal(toHex(encodeLoginRegister(login)), one.expected_hex);
      assert.deepEqual(decodeLoginRegister(body), login);
    } else {
      const login = { ...prefix, token, ...rest };
      assert.equal(toHex(encodeLoginRegisterWithPat(login)), one.expected_hex);
      assert.deepEqual(decodeLoginRegisterWithPat(body), login);
      assert.throws(() => decodeLoginRegister(body), isWireError);
    }
    assert.deepEqual(decodeVersionPrefix(body), prefix);
  });
}

const REPLY = { userId: 0, session: 17, serverProtocolVersion: 11_264, serverVersion: "0.9.0" };

test("login/response_payload is written and read as recorded", () => {
  const { expected_hex } = goldenCase("login/response_payload");
  assert.equal(toHex(encodeLoginReply(REPLY)), expected_hex);
  assert.deepEqual(decodeLoginReply(fromHex(expected_hex ?? "")), REPLY);
});

test("login/response_reply_body is the payload behind a result section", () => {
  const { expected_hex } = goldenCase("login/response_reply_body");
  assert.equal(toHex(encodeResultSuccess(encodeLoginReply(REPLY))), expected_hex);
  assert.deepEqual(decodeLoginReply(decodeResultSection(fromHex(expected_hex ?? "")).payload), REPLY);
});

test("a version prefix is read whatever follows it", () => {
  const body = fromHex("002c000001610162ffff");
  assert.deepEqual(decodeVersionPrefix(body), { protocolVersion: 11_264, sdkName: "a", sdkVersion: "b" });
  assert.throws(() => decodeVersionPrefix(fromHex("002c00000161")), isWireError);
});

test("a login context is bounded, for nobody is known yet who sends it", () => {
  const login = { protocolVersion: 11_264, sdkName: "a", sdkVersion: "b", username: "u", password: "p" };
  const longest = { ...login, context: "x".repeat(65_536) };
  assert.deepEqual(decodeLoginRegister(encodeLoginRegister(longest)), longest);
  const body = encodeLoginRegister({ ...login, context: "x".repeat(65_537) });
  assert.throws(
    () => decodeLoginRegister(body),
    (error) => isWireError(error, "bad_length") && error.position === body.length - 65_537 - 4,
  );
});
