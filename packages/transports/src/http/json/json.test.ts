import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { HttpError } from "../errors/http-error.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";
import { Fields, wholeNumber } from "./fields.ts";
import { parseJson } from "./parse-json.ts";
import { type JsonValue, writeJson } from "./write-json.ts";

const refusal = (status: number, field: string) => (error: unknown) =>
  error instanceof HttpError && error.status === status && error.field === field && error.id === 3;

describe("JSON", () => {
  it("is written with every digit of wide numbers and read back without loss", () => {
    const u128 = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 128n - 1n });
    fc.assert(
      fc.property(fc.array(u128, { maxLength: 5 }), fc.string(), (numbers, text) => {
        const read = parseJson(writeJson({ numbers, text })) as {
          numbers: (number | bigint)[];
          text: string;
        };
        assert.deepEqual(read.numbers.map(BigInt), numbers);
        assert.equal(read.text, text);
      }),
    );
  });

  it("without wide numbers is what JSON.stringify and JSON.parse make of it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/[0-9.]{16}/.test(text));
        assert.deepEqual(parseJson(text), JSON.parse(text));
        assert.deepEqual(JSON.parse(writeJson(value as JsonValue)), JSON.parse(text));
      }),
    );
  });

  it("holds no number that is not exact as a whole number", () => {
    const exact = {
      "9007199254740991": 2n ** 53n - 1n,
      "9007199254740993": 2n ** 53n + 1n,
      "1e3": 1000n,
      "-5": -5n,
    };
    for (const [text, number] of Object.entries(exact))
      assert.equal(wholeNumber(parseJson(text)), number, text);
    for (const text of [
      "1.5",
      "1e16",
      "9007199254740993.0",
      "0.1234567890123456789",
      "9.007199254740993e15",
      "999999999999999.99",
      `1${"0".repeat(50)}`,
    ]) {
      assert.equal(wholeNumber(parseJson(text)), undefined, text);
    }
  });

  it("writes what has no JSON form as null", () => {
    assert.equal(writeJson([Number.NaN, Number.POSITIVE_INFINITY, 1.25]), "[null,null,1.25]");
  });

  it("is refused when it is cut or followed by something, by both parsers", () => {
    for (const text of ['{"a":1234567890123456789', '{"a":1234567890123456789}x', '{"a":1', "[1]]", ""]) {
      assert.throws(() => parseJson(text), SyntaxError, text);
    }
  });
});

describe("Base64", () => {
  it("gives back any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        assert.deepEqual(Uint8Array.from(decodeBase64(encodeBase64(bytes)) ?? []), bytes);
      }),
    );
  });

  it("is the standard alphabet with padding and nothing else", () => {
    for (const text of ["YQ", "YQ=", "Y===", "YQ==\n", " YQ==", "Y-_=", "YQ==YQ==", "=", "é"]) {
      assert.equal(decodeBase64(text), undefined, text);
    }
  });
});

describe("Fields", () => {
  it("are read by their kind, and errors say which and where", () => {
    const fields = Fields.ofBody({
      a: "x",
      n: 7,
      big: "18446744073709551615",
      no: null,
      list: [{ b: 1 }],
      yes: true,
    });
    assert.equal(fields.text("a"), "x");
    assert.equal(fields.u32("n"), 7);
    assert.equal(fields.u64("big"), 2n ** 64n - 1n);
    assert.equal(fields.optionalText("no"), undefined);
    assert.equal(fields.flag("yes"), true);
    assert.equal(fields.u32("absent", 10), 10);
    assert.throws(() => fields.text("n"), refusal(422, "n"));
    assert.throws(() => fields.text("missing"), /It is missing/);
    assert.throws(() => fields.u32("big"), refusal(422, "big"));
    assert.throws(() => fields.choice("a", { y: 1 }), refusal(422, "a"));
    assert.throws(() => fields.object("a"), refusal(422, "a"));
    assert.throws(() => fields.text("toString"), refusal(422, "toString"));
    const inner = Fields.of(fields.list("list")[0], () => "list[0]");
    assert.throws(() => inner.text("b"), refusal(422, "list[0].b"));
    assert.throws(() => Fields.ofQuery({ n: "1", two: ["1", "2"] }).u32("two"), refusal(400, "two"));
  });
});
