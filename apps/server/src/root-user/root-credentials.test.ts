import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimRandom } from "@millrace/platform/sim";
import { rootCredentials } from "./root-credentials.ts";

const random = new SimRandom(1);
const from = (environment: Record<string, string>, withDefaults = false) =>
  rootCredentials({ environment, withDefaults, random });
const refusal = (code: number) => (error: unknown) => isCodedError(error, code);

test("Both from the environment, MILLRACE_ before IGGY_.", () => {
  const environment = {
    MILLRACE_ROOT_USERNAME: "admin",
    IGGY_ROOT_USERNAME: "other",
    IGGY_ROOT_PASSWORD: "secret",
  };
  assert.deepEqual(from(environment), { username: "admin", password: "secret", passwordOrigin: "given" });
});

test("Only one of the two refuses to start, unless the defaults may fill in.", () => {
  assert.throws(() => from({ MILLRACE_ROOT_USERNAME: "admin" }), /MILLRACE_ROOT_PASSWORD is not/);
  assert.throws(() => from({ MILLRACE_ROOT_PASSWORD: "secret" }), /MILLRACE_ROOT_USERNAME is not/);
  const named = from({ MILLRACE_ROOT_USERNAME: "admin" }, true);
  assert.deepEqual(named, { username: "admin", password: "iggy", passwordOrigin: "default" });
  const guarded = from({ MILLRACE_ROOT_PASSWORD: "secret" }, true);
  assert.deepEqual(guarded, { username: "iggy", password: "secret", passwordOrigin: "given" });
});

test("The default credentials are iggy/iggy, and only when asked for.", () => {
  assert.deepEqual(from({}, true), { username: "iggy", password: "iggy", passwordOrigin: "default" });
});

test("Without anything the name is iggy and the password random, long and of letters and digits.", () => {
  const [one, other] = [from({}), from({})];
  assert.equal(one.username, "iggy");
  assert.match(one.password, /^[A-Za-z0-9]{24}$/);
  assert.notEqual(one.password, other.password);
  assert.equal(one.passwordOrigin, "generated");
});

test("Lengths out of bounds refuse to start.", () => {
  const name = (length: number) =>
    from({ IGGY_ROOT_USERNAME: "a".repeat(length), IGGY_ROOT_PASSWORD: "secret" });
  const password = (length: number) =>
    from({ IGGY_ROOT_USERNAME: "abc", IGGY_ROOT_PASSWORD: "p".repeat(length) });
  for (const length of [2, 51]) assert.throws(() => name(length), refusal(ErrorCode.InvalidUsername));
  for (const length of [2, 101]) assert.throws(() => password(length), refusal(ErrorCode.InvalidPassword));
  assert.equal(name(50).username.length, 50);
  assert.equal(password(100).password.length, 100);
});
