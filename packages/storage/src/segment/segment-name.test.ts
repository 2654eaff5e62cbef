import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { compareSegmentNames, parseSegmentFileName, segmentFileName } from "./segment-name.ts";

describe("a segment's file name", () => {
  it("is the 20 digits of the first offset, and the generation from the first purge on", () => {
    assert.equal(segmentFileName({ generation: 0, firstOffset: 1234 }, "log"), "00000000000000001234.log");
    assert.equal(segmentFileName({ generation: 7, firstOffset: 0 }, "ops"), "00000000000000000000.g7.ops");
  });

  it("reads back as what it was made of", () => {
    const property = fc.property(
      fc.maxSafeNat(),
      fc.nat(),
      fc.constantFrom("log", "ops", "index"),
      (...parts) => {
        const [firstOffset, generation, kind] = parts;
        const name = { generation, firstOffset };
        assert.deepEqual(parseSegmentFileName(segmentFileName(name, kind as "log")), { ...name, kind });
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  it("is refused in any other form", () => {
    const others = [
      "1.log",
      "00000000000000000001.log.bak",
      "00000000000000000001.LOG",
      "00000000000000000001.g0.log",
      "00000000000000000001.g01.log",
      "99999999999999999999.log",
      ".log",
      "",
      "0000000000000000000 .log",
      "10 (copy)",
    ];
    for (const other of others) assert.equal(parseSegmentFileName(other), undefined, other);
  });

  it("orders segments as they were written", () => {
    const names = [
      { generation: 1, firstOffset: 0 },
      { generation: 0, firstOffset: 20 },
      { generation: 0, firstOffset: 3 },
    ];
    assert.deepEqual(names.toSorted(compareSegmentNames), names.toReversed());
  });
});
