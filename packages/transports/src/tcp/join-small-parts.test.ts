import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { joinSmallParts } from "./join-small-parts.ts";

test("joined parts carry the same bytes in the same order", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new SeededRandom(seed);
    const parts = Array.from({ length: random.below(400) }, () => {
      const length = random.below(10) === 0 ? 1 + random.below(5000) : 1 + random.below(600);
      return new Uint8Array(length).fill(random.below(256));
    });
    const joined = joinSmallParts(parts);
    assert.ok(joined.length <= parts.length);
    assert.ok(Buffer.concat(joined).equals(Buffer.concat(parts)));
  }
});

test("small neighbours become one part, a long part is not copied", () => {
  const [header, head, batch] = [new Uint8Array(256), new Uint8Array(16), new Uint8Array(5000)];
  const joined = joinSmallParts([header, head, batch, header]);
  assert.deepEqual(
    joined.map((part) => part.length),
    [272, 5000, 256],
  );
  assert.equal(joined[1], batch);
  assert.equal(joined[2], header);
});

test("a joined part keeps its bytes when its sources change and more is joined", () => {
  const source = new Uint8Array(100).fill(7);
  const [first] = joinSmallParts([source, source]);
  source.fill(9);
  for (let round = 0; round < 1000; round++) joinSmallParts([source, source]);
  assert.ok(first?.every((byte) => byte === 7));
});
