import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fromHex, goldenCases, utf8 } from "@millrace/testkit";
import { loadKeyHash } from "./key-hash.ts";

describe("the key hash", () => {
  it("gives the official number and partition of every golden key", async () => {
    const keyHash = await loadKeyHash();
    for (const one of goldenCases("xxh32_key")) {
      const hash = keyHash(fromHex(one.input.key_hex));
      assert.equal(hash, one.expected.u32, one.name);
      for (const [count, index] of Object.entries(one.expected.partition_index_by_count)) {
        assert.equal(hash % Number(count), index, `${one.name} over ${count} partitions`);
      }
    }
  });

  it("gives the official number of every named consumer", async () => {
    const keyHash = await loadKeyHash();
    const cases = goldenCases("named_consumer_key");
    assert.ok(cases.length > 0);
    for (const one of cases) assert.equal(keyHash(utf8(one.input.name_utf8)), one.expected.u32, one.name);
  });
});
