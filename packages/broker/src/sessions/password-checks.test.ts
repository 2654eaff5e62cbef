import assert from "node:assert/strict";
import { test } from "node:test";
import { PasswordChecks } from "./password-checks.ts";

/**
 * Checks of which all but one are busy for ever, the last ends when a test says so; `right` is the only right
 * password.
 */
function checks(waitingMax: number) {
  const running: (() => void)[] = [];
  const verdicts: string[] = [];
  const gone = new Set<string>();
  const one = new PasswordChecks({
    passwords: {
      hash: async (password) => password,
      verify: (password, stored) =>
        new Promise((resolve) => {
          running.push(() => resolve(password === stored));
        }),
    },
    waitingMax,
    dummyHash: "dummy",
  });
  const claim = (password: string, stored: string | undefined = "right") =>
    one.check({
      password,
      stored,
      isWanted: () => !gone.has(password),
      decided: (verdict) => void verdicts.push(`${password} ${verdict}`),
    });
  const hash = (password: string, hashed: (stored: string | undefined) => void) =>
    one.hash({ password, isWanted: () => !gone.has(password), hashed });
  for (const password of ["busy 1", "busy 2", "busy 3"]) claim(password);
  verdicts.length = 0;
  const busy = running.splice(0);
  assert.equal(busy.length, 3);
  const finishOne = async () => {
    running.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { claim, hash, finishOne, running, verdicts, gone };
}

test("Claims are decided in order, one at a time; without a stored password none is right.", async () => {
  const { claim, finishOne, running, verdicts } = checks(10);
  claim("right");
  claim("other");
  claim("dummy", undefined);
  assert.equal(running.length, 1);
  for (let count = 0; count < 3; count++) await finishOne();
  assert.deepEqual(verdicts, ["right right", "other wrong", "dummy wrong"]);
});

test("Claims beyond the queue's bound are turned away at once, and those that wait keep their turn.", async () => {
  const { claim, finishOne, verdicts } = checks(2);
  for (const password of ["a", "b", "c", "d"]) claim(password);
  assert.deepEqual(verdicts, ["d busy"]);
  for (let count = 0; count < 3; count++) await finishOne();
  assert.deepEqual(verdicts, ["d busy", "a wrong", "b wrong", "c wrong"]);
});

test("Who hung up takes no place in a full queue and costs no check.", async () => {
  const { claim, finishOne, running, verdicts, gone } = checks(2);
  for (const password of ["a", "b", "c"]) claim(password);
  gone.add("b");
  claim("right");
  assert.deepEqual(verdicts, ["b wrong"]);
  gone.add("c");
  await finishOne();
  assert.deepEqual(verdicts, ["b wrong", "a wrong", "c wrong"]);
  assert.equal(running.length, 1);
  await finishOne();
  assert.deepEqual(verdicts.at(-1), "right right");
});

test("Hashes wait in the same queue: turned away when it is full, dropped when nobody waits for them.", async () => {
  const { claim, finishOne, hash, gone } = checks(2);
  const hashes: (string | undefined)[] = [];
  claim("a");
  hash("first", (stored) => hashes.push(stored));
  hash("second", (stored) => hashes.push(stored));
  hash("third", (stored) => hashes.push(stored));
  assert.deepEqual(hashes, [undefined], "the third is turned away");
  gone.add("first");
  await finishOne();
  assert.deepEqual(hashes, [undefined, undefined, "second"]);
});
