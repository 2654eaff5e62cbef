import assert from "node:assert/strict";
import { test } from "node:test";
import { collectHeaders } from "./header-text.ts";
import { U64_MAX } from "./whole-number.ts";

test("headers are split at the first two colons, and kinds ignore case", () => {
  assert.deepEqual(collectHeaders("url:String:http://x:1/,n:UINT8:255"), [
    { key: "url", kind: "string", value: "http://x:1/" },
    { key: "n", kind: "uint8", value: 255 },
  ]);
  assert.equal(collectHeaders("b:bool:true", collectHeaders("a:bool:false")).length, 2);
});

test("header values of every kind are exact, and what does not fit is refused", () => {
  const headerValue = (text: string) => collectHeaders(text)[0]?.value;
  assert.equal(headerValue("k:int128:-170141183460469231731687303715884105728"), -(2n ** 127n));
  assert.equal(headerValue("k:uint128:340282366920938463463374607431768211455"), 2n ** 128n - 1n);
  assert.equal(headerValue("k:uint64:18446744073709551615"), U64_MAX);
  assert.equal(headerValue("k:float64:0.1"), 0.1);
  assert.deepEqual(headerValue("k:raw:ab"), new Uint8Array([97, 98]));
  for (const text of [
    "k:uint8:256",
    "k:int8:-129",
    "k:uint64:-1",
    "k:bool:1",
    "k:float32:1e39",
    "k:float64:",
  ]) {
    assert.throws(() => collectHeaders(text), text);
  }
  assert.throws(() => collectHeaders("k:colour:red"), /is not a kind/);
  assert.throws(() => collectHeaders("k=v"), /key:kind:value/);
  assert.throws(() => collectHeaders(":string:v"), /1 to 255/);
});
