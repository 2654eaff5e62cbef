import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSize, sizeText } from "./size.ts";
import { U64_MAX } from "./whole-number.ts";

test("sizes know decimal and binary units", () => {
  assert.equal(parseSize("15GB"), 15_000_000_000n);
  assert.equal(parseSize("128MiB"), 134_217_728n);
  assert.equal(parseSize("128 MiB"), 134_217_728n);
  assert.equal(parseSize("4096"), 4_096n);
  assert.equal(parseSize("unlimited"), U64_MAX);
  for (const text of ["many", "5 parsecs", "5 constructor", "-1", "99999999999TiB"])
    assert.throws(() => parseSize(text), text);
  assert.equal(sizeText(1_610_612_736), "1.50 GiB");
  assert.equal(sizeText(12), "12 B");
});
