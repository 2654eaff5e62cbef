import assert from "node:assert/strict";
import { test } from "node:test";
import { typedField } from "@millrace/framing";
import type { ShownMessage } from "../connection/client.ts";
import { collectFilter } from "./message-filter.ts";

const HEADERS = [
  [typedField("string", "region"), typedField("string", "eu=west")],
  [typedField("string", "attempt"), typedField("uint8", 3)],
] as const;

function message(payload: string | Uint8Array, headerFields: ShownMessage["headerFields"] = HEADERS) {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  return { payload: bytes, headerFields } as unknown as ShownMessage;
}

const ORDER = message(
  '{"id":7,"city":"Berlin","items":[{"sku":"a.b"},{"sku":"tea"}],"paid":true,"note":null}',
);

test("a filter looks at a header, a field of a JSON payload, or the payload's text", () => {
  const cases: readonly (readonly [string, ShownMessage, boolean])[] = [
    ["region=eu=west", ORDER, true],
    ["attempt=3", ORDER, true],
    ["attempt=03", ORDER, false],
    ["city=Berlin", ORDER, false],
    [".city=Berlin", ORDER, true],
    [".id=7", ORDER, true],
    [".paid=true", ORDER, true],
    [".note=null", ORDER, true],
    [".items.1.sku=tea", ORDER, true],
    [".items.length=2", ORDER, true],
    [".gone=undefined", ORDER, false],
    [".city=Berlin", message("no JSON"), false],
    ["/berlin/i", ORDER, true],
    ["/^\\{.*\\}$/s", ORDER, true],
    ["/berlin/", ORDER, false],
    ["/./", message(Uint8Array.of(0xff, 0xfe)), false],
  ];
  for (const [text, given, expected] of cases) {
    const filters = collectFilter(text);
    assert.equal(
      filters.every((filter) => filter(given)),
      expected,
      text,
    );
  }
});

test("several filters must all be met, and what is none is refused", () => {
  const both = collectFilter("attempt=3", collectFilter("/tea/"));
  assert.equal(
    both.every((filter) => filter(ORDER)),
    true,
  );
  assert.equal(
    both.every((filter) => filter(message("coffee"))),
    false,
  );
  for (const text of ["", "=x", "word", ".=x", "/(/"]) {
    assert.throws(() => collectFilter(text), /It (must be|is no regular)/, text);
  }
});

test("a message whose headers cannot be read is passed over by filters on headers", () => {
  const odd = Object.defineProperty({ payload: new Uint8Array() }, "headerFields", {
    get: () => typedField("uint8", 999),
  }) as unknown as ShownMessage;
  assert.equal(
    collectFilter("a=b").every((filter) => filter(odd)),
    false,
  );
});
