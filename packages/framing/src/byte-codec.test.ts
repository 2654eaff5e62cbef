import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toHex } from "@millrace/testkit";
import fc from "fast-check";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { isWireError, WireError, type WireReason } from "./wire-error.ts";

const U64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const U128 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
const TEXT = fc.string({ unit: "binary" });

function fails(reason: WireReason, position: number, action: () => unknown): void {
  assert.throws(action, (error) => isWireError(error, reason) && error.position === position);
}

describe("ByteWriter and ByteReader", () => {
  it("write and read every primitive in little-endian order", () => {
    const writer = new ByteWriter(1);
    writer
      .u8(1)
      .u16(0x0203)
      .u32(0x04050607)
      .u64(8)
      .u128(9n)
      .f32(-0.5)
      .f64(1.5)
      .zero(2)
      .bytes(Uint8Array.of(7));
    const hex =
      "01" + "0302" + "07060504" + "0800000000000000" + "09000000000000000000000000000000" + "000000bf";
    assert.equal(toHex(writer.finish()), `${hex}000000000000f83f000007`);
    const reader = new ByteReader(writer.finish());
    assert.deepEqual(
      [reader.u8(), reader.u16(), reader.u32(), reader.u64(), reader.u128(), reader.f32(), reader.f64()],
      [1, 0x0203, 0x04050607, 8n, 9n, -0.5, 1.5],
    );
    reader.skip(2);
    assert.equal(reader.u8(), 7);
    reader.finish();
  });

  it("give back any values that were written", () => {
    fc.assert(
      fc.property(U64, U128, TEXT, fc.uint8Array(), fc.double(), (u64, u128, text, bytes, f64) => {
        const writer = new ByteWriter().u64(u64).u128(u128).str32(text).bytes32(bytes).f64(f64);
        const reader = new ByteReader(writer.finish());
        assert.equal(reader.u64(), u64);
        assert.equal(reader.u128(), u128);
        assert.equal(reader.str32(), text);
        assert.deepEqual(reader.bytes32(), bytes);
        assert.equal(reader.f64(), f64);
        reader.finish();
      }),
      { numRuns: 300 },
    );
  });

  it("write again where they wrote before, and nothing of it is left over", () => {
    const writer = new ByteWriter(4).u32(0xffff_ffff).u32(7);
    assert.equal(toHex(writer.finish()), "ffffffff07000000");
    assert.equal(toHex(writer.restart().u8(1).zero(2).finish()), "010000");
    assert.equal(toHex(writer.restart().zero(9).finish()), "00".repeat(9));
  });

  it("keep a byte order mark, for it is part of the text", () => {
    assert.equal(new ByteReader(new ByteWriter().name("\ufeffa").finish()).name(), "\ufeffa");
  });

  it("give back names of 1 to 255 bytes and refuse others", () => {
    for (const text of ["a", "é".repeat(127), "x".repeat(255)]) {
      assert.equal(new ByteReader(new ByteWriter().name(text).finish()).name(), text);
    }
    fails("empty_name", 1, () => new ByteWriter().u8(0).name(""));
    fails("bad_length", 0, () => new ByteWriter().name("x".repeat(256)));
    fails("bad_length", 0, () => new ByteWriter().bytes8(new Uint8Array(256)));
    fails("empty_name", 0, () => new ByteReader(Uint8Array.of(0)).name());
    assert.equal(new ByteReader(Uint8Array.of(0)).bytes8().byteLength, 0);
  });
});

describe("ByteReader", () => {
  it("refuses to read past its end and stays where it was", () => {
    const reader = new ByteReader(Uint8Array.of(9, 1, 2, 3, 9), 1, 4);
    fails("unexpected_end", 1, () => reader.u32());
    fails("unexpected_end", 1, () => reader.bytes(4));
    assert.equal(reader.remaining, 3);
    assert.deepEqual(reader.bytes(3), Uint8Array.of(1, 2, 3));
    assert.equal(reader.position, 4);
    fails("unexpected_end", 4, () => reader.u8());
    fails("unexpected_end", 3, () => new ByteReader(Uint8Array.of(1), 3));
    fails("unexpected_end", 0, () => new ByteReader(Uint8Array.of(1), 0, 2));
  });

  it("refuses a length that reaches beyond the bytes without allocating them", () => {
    fails("unexpected_end", 4, () => new ByteReader(Uint8Array.of(255, 255, 255, 255, 1)).bytes32());
  });

  it("refuses bytes left over, text that is not UTF-8, and counters no number can hold", () => {
    fails("trailing_bytes", 1, () => {
      const reader = new ByteReader(Uint8Array.of(1, 2));
      reader.u8();
      reader.finish();
    });
    fails("invalid_utf8", 1, () => new ByteReader(Uint8Array.of(2, 0xc3, 0x28)).name());
    const largest = new ByteWriter().u64(Number.MAX_SAFE_INTEGER).finish();
    assert.equal(new ByteReader(largest).u64Number(), Number.MAX_SAFE_INTEGER);
    fails("bad_value", 0, () => new ByteReader(new ByteWriter().u64(1n << 53n).finish()).u64Number());
    fails("bad_value", 0, () => new ByteReader(new Uint8Array(8).fill(255)).u64Number());
  });
});

describe("ByteWriter", () => {
  it("refuses numbers outside their field", () => {
    const writer = new ByteWriter().u8(255);
    const refused: (() => unknown)[] = [
      () => writer.u8(256),
      () => writer.u8(-1),
      () => writer.u16(65_536),
      () => writer.u32(4_294_967_296),
      () => writer.u32(1.5),
      () => writer.u64(2 ** 53),
      () => writer.u64(-1n),
      () => writer.u64(1n << 64n),
      () => writer.u128(-1n),
      () => writer.u128(1n << 128n),
    ];
    for (const write of refused) fails("bad_value", 1, write);
    assert.equal(writer.length, 1);
  });

  it("refuses text with half a surrogate pair", () => {
    fails("invalid_utf8", 0, () => new ByteWriter().str32("a\ud800"));
  });

  it("fills in a number whose value is known later, but only where bytes were written", () => {
    const writer = new ByteWriter().u32(0).u8(7);
    writer.setU32(0, writer.length);
    assert.equal(toHex(writer.finish()), "0500000007");
    fails("unexpected_end", 2, () => writer.setU32(2, 1));
    fails("unexpected_end", -1, () => writer.setU32(-1, 1));
  });
});

describe("WireError", () => {
  it("is known by its symbol and its reason", () => {
    const error = new WireError("too_many", 12);
    assert.equal(error.message, "too many at byte 12");
    assert.deepEqual(
      [isWireError(error), isWireError(error, "too_many"), isWireError(error, "bad_value")],
      [true, true, false],
    );
    assert.ok(!isWireError(new Error("too many at byte 12")) && !isWireError(null));
  });
});
