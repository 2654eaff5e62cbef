import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseByteSize } from "./byte-size.ts";

test("byte sizes are read with and without unit and space, in any case", () => {
  const table: readonly (readonly [string, bigint])[] = [
    ["0", 0n],
    ["1048576", 1_048_576n],
    ["10 GiB", 10n * 2n ** 30n],
    ["15GB", 15_000_000_000n],
    ["128MiB", 128n * 2n ** 20n],
    ["128 mib", 128n * 2n ** 20n],
    [" 1.5 MiB ", 1_572_864n],
    ["2 kB", 2000n],
    ["7 b", 7n],
    ["1 PiB", 2n ** 50n],
    ["18446744073709551615", 2n ** 64n - 1n],
  ];
  for (const [text, bytes] of table) assert.equal(parseByteSize(text), bytes, text);
});

test("what is no byte size, or no whole number of bytes, or beyond u64, is none", () => {
  const texts = ["", " ", "GiB", "-1", "1 XB", "1.5", "1.0001 KiB", "1e3", "1 G iB", "0x10", "1,5 GiB"];
  texts.push("18446744073709551616", "16777216 TiB", "1 constructor", "1 __proto__");
  for (const text of texts) assert.equal(parseByteSize(text), undefined, text);
});

test("every u64 is read back from its digits", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (bytes) => parseByteSize(`${bytes}`) === bytes),
  );
});
