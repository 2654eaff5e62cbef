import assert from "node:assert/strict";
import { test } from "node:test";
import { collectKeyValue } from "./key-value.ts";

test("a setting is split at its first equals sign", () => {
  assert.deepEqual(collectKeyValue("a=b=c"), [{ key: "a", value: "b=c" }]);
  assert.deepEqual(collectKeyValue("b=1", [{ key: "a", value: "0" }]).length, 2);
  assert.throws(() => collectKeyValue("a"), /KEY=VALUE/);
  assert.throws(() => collectKeyValue("=1"), /1 to 255/);
  assert.throws(() => collectKeyValue(`a=${"x".repeat(256)}`), /1 to 255/);
  assert.throws(() => collectKeyValue("a=1", [{ key: "a", value: "0" }]), /twice/);
});
