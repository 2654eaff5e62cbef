import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError } from "@millrace/framing";
import { fromHex, goldenCase, goldenCases, toHex } from "@millrace/testkit";
import { decodeResultSection, encodeResultSuccess } from "../result-section.ts";
import { decodeLoginRegister, decodeVersionPrefix, encodeLoginRegister } from "./login-register.ts";
import { decodeLoginRegisterWithPat, encodeLoginRegisterWithPat } from "./login-register-with-pat.ts";
import { decodeLoginReply, encodeLoginReply } from "./login-reply.ts";
import { nextRequestContext, nextRequestOf } from "./next-request.ts";

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

test("a login context tells the next number that a client gives out", () => {
  assert.equal(nextRequestContext(42), "next-request=42");
  for (const next of [1, 42, Number.MAX_SAFE_INTEGER])
    assert.equal(nextRequestOf(nextRequestContext(next)), BigInt(next));
  assert.equal(nextRequestOf("next-request=18446744073709551615"), 2n ** 64n - 1n);
});

test("a login context that says anything else tells no number", () => {
  const others = ["", "42", "next-request", "next-request=", "next-request=0", "next-request=042"];
  const wrong = [
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x1",
    " 1",
    "1 ",
    "1\n",
    "1;2",
    "18446744073709551616",
    "9".repeat(21),
  ];
  for (const context of [...others, ...wrong.map((number) => `next-request=${number}`)])
    assert.equal(nextRequestOf(context), undefined, context);
  assert.equal(nextRequestOf("my next-request=1"), undefined);
  assert.equal(nextRequestOf("Next-Request=1"), undefined);
});

test("a login with a token and a context does not read as one with a password", () => {
  const prefix = { protocolVersion: 11_264, sdkName: "a", sdkVersion: "b" };
  for (const next of [1, 42, Number.MAX_SAFE_INTEGER]) {
    const login = { ...prefix, token: "a-token-of-some-length", context: nextRequestContext(next) };
    const body = encodeLoginRegisterWithPat(login);
    assert.deepEqual(decodeLoginRegisterWithPat(body), login);
    assert.throws(() => decodeLoginRegister(body), isWireError);
  }
});
