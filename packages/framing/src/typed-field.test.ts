import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { fromHex, goldenCase, goldenCases, toHex } from "@millrace/testkit";
import fc from "fast-check";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { FieldKind, type FieldKindName, fieldKindName } from "./field-kind.ts";
import { type FieldValue, fieldValue, type TypedField, typedField } from "./typed-field.ts";
import {
  decodeTypedFields,
  encodeTypedFields,
  readTypedField,
  type TypedFieldPair,
  writeTypedField,
} from "./typed-field-codec.ts";
import { isWireError } from "./wire-error.ts";

/** The value a golden case writes as text. */
function goldenValue(kind: FieldKindName, text: string): FieldValue {
  if (kind === "raw") return fromHex(text);
  if (kind === "string") return text;
  if (kind === "bool") return text === "true";
  if (kind.startsWith("float")) return Number(text);
  return /64|128/.test(kind) ? BigInt(text) : Number(text);
}

function goldenField(input: { kind: FieldKindName; value: string }): TypedField {
  return typedField(input.kind, goldenValue(input.kind, input.value));
}

const INTEGER_BITS = { int8: 8, int16: 16, int32: 32, int64: 64, int128: 128 } as const;

const ANY_FIELD: fc.Arbitrary<readonly [FieldKindName, FieldValue]> = fc.oneof(
  fc.tuple(fc.constant("raw" as const), fc.uint8Array({ minLength: 1, maxLength: 255 })),
  fc.tuple(fc.constant("string" as const), fc.string({ unit: "binary", minLength: 1, maxLength: 60 })),
  fc.tuple(fc.constant("bool" as const), fc.boolean()),
  fc.tuple(fc.constant("float32" as const), fc.float()),
  fc.tuple(fc.constant("float64" as const), fc.double()),
  ...Object.entries(INTEGER_BITS).flatMap(([name, bits]) => {
    const integer = (min: bigint, max: bigint): fc.Arbitrary<FieldValue> =>
      bits <= 32 ? fc.integer({ min: Number(min), max: Number(max) }) : fc.bigInt({ min, max });
    const half = 1n << BigInt(bits - 1);
    return [
      fc.tuple(fc.constant(name as FieldKindName), integer(-half, half - 1n)),
      fc.tuple(fc.constant(`u${name}` as FieldKindName), integer(0n, 2n * half - 1n)),
    ];
  }),
);

describe("typed fields", () => {
  for (const one of goldenCases("header_field")) {
    it(`are written and read as in ${one.name}`, () => {
      const field = goldenField(one.input);
      const writer = new ByteWriter();
      writeTypedField(writer, field);
      assert.equal(toHex(writer.finish()), one.expected_hex);
      const read = readTypedField(new ByteReader(fromHex(one.expected_hex ?? "")));
      assert.deepEqual(read, field);
      assert.deepEqual(fieldValue(read), goldenValue(one.input.kind, one.input.value));
    });
  }

  it("in a run are the user headers of an official client", () => {
    const one = goldenCase("user_headers/four_entries");
    const pairs: TypedFieldPair[] = one.input.entries.map(
      (entry: {
        key: { kind: FieldKindName; value: string };
        value: { kind: FieldKindName; value: string };
      }) => [goldenField(entry.key), goldenField(entry.value)] as const,
    );
    assert.equal(toHex(encodeTypedFields(pairs)), one.expected_hex);
    assert.deepEqual(decodeTypedFields(fromHex(one.expected_hex ?? "")), pairs);
  });

  for (const one of goldenCases("options")) {
    it(`in a run are the options of ${one.name}`, () => {
      const bytes = fromHex(one.expected_hex ?? "");
      const block = one.name.includes("length_prefixed") ? new ByteReader(bytes).bytes32() : bytes;
      const pairs: TypedFieldPair[] = one.input.entries.map(
        (entry: { key: string; kind: FieldKindName; value: string }) =>
          [typedField("string", entry.key), goldenField(entry)] as const,
      );
      assert.equal(toHex(encodeTypedFields(pairs)), toHex(block));
      assert.deepEqual(decodeTypedFields(block), pairs);
    });
  }

  it("give back every value of every kind, in any run", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(ANY_FIELD, ANY_FIELD), { maxLength: 6 }), (entries) => {
        const pairs = entries.map(([key, value]) => [typedField(...key), typedField(...value)] as const);
        const decoded = decodeTypedFields(encodeTypedFields(pairs));
        assert.deepEqual(
          decoded.map(([key, value]) => [fieldValue(key), fieldValue(value)]),
          entries.map(([key, value]) => [key[1], value[1]]),
        );
      }),
    );
  });

  it("take numbers for wide integers and bigints for narrow ones", () => {
    assert.equal(fieldValue(typedField("uint64", 7)), 7n);
    assert.equal(fieldValue(typedField("int8", -7n)), -7);
  });

  it("copy the bytes of a raw value", () => {
    const bytes = Uint8Array.of(1, 2);
    const field = typedField("raw", bytes);
    bytes[0] = 9;
    assert.deepEqual(fieldValue(field), Uint8Array.of(1, 2));
  });

  it("refuse values of another type, out of range, or too long", () => {
    const refused: readonly (readonly [FieldKindName, FieldValue])[] = [
      ["raw", "text"],
      ["raw", new Uint8Array(0)],
      ["raw", new Uint8Array(256)],
      ["string", 5],
      ["string", ""],
      ["string", "\ud800"],
      ["string", "é".repeat(128)],
      ["bool", 1],
      ["int8", 128],
      ["int8", -129],
      ["uint8", -1],
      ["uint16", 65_536],
      ["uint32", 1.5],
      ["uint64", 2 ** 53],
      ["uint64", 1n << 64n],
      ["int128", 1n << 127n],
      ["uint128", true],
      ["float32", 1n],
      ["float64", "1"],
    ];
    for (const [kind, value] of refused) {
      assert.throws(
        () => typedField(kind, value),
        (error) =>
          isCodedError(error, ErrorCode.InvalidHeaderValue) && error.details["kind"] === FieldKind[kind],
        `${kind} ${String(value)}`,
      );
    }
  });

  it("on the wire are refused where they are wrong", () => {
    const refused = [
      ["000100000001", "unknown_kind", 0],
      ["100100000001", "unknown_kind", 0],
      ["0100000000", "bad_length", 0],
      ["010001000000", "bad_length", 0],
      ["03020000000101", "bad_length", 0],
      ["0b030000000101ff", "bad_length", 0],
      ["02010000", "unexpected_end", 1],
      ["0203000000ff", "unexpected_end", 5],
      ["0202000000c328", "invalid_utf8", 5],
      ["020100000061", "unexpected_end", 6],
      ["02010000006100", "unexpected_end", 7],
    ] as const;
    for (const [hex, reason, position] of refused) {
      assert.throws(
        () => decodeTypedFields(fromHex(hex)),
        (error) => isWireError(error, reason) && error.position === position,
        hex,
      );
    }
  });

  it("made by hand are checked before they are written and when they are read", () => {
    const unknown = { kind: 99, bytes: Uint8Array.of(1) };
    const short = { kind: FieldKind.uint32, bytes: Uint8Array.of(1) };
    assert.throws(() => writeTypedField(new ByteWriter(), unknown), isWireError);
    assert.throws(() => fieldValue(unknown), isWireError);
    assert.throws(() => fieldValue(short), isWireError);
    assert.equal(fieldKindName(99), undefined);
  });

  it("decode random and mutated bytes or refuse them with a position inside", () => {
    const good = fromHex(goldenCase("user_headers/four_entries").expected_hex ?? "");
    const mutated = fc.array(fc.tuple(fc.nat(good.byteLength - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    const changed = mutated.map((changes) => {
      const bytes = good.slice();
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), changed), (bytes) => {
        try {
          for (const [key, value] of decodeTypedFields(bytes)) void [fieldValue(key), fieldValue(value)];
        } catch (error) {
          assert.ok(isWireError(error) && error.position >= 0 && error.position <= bytes.byteLength);
        }
      }),
      { numRuns: 500 },
    );
  });
});
