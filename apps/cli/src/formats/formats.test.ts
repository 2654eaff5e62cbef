import assert from "node:assert/strict";
import { test } from "node:test";
import { durationText, parseDuration } from "./duration.ts";
import { parseExpiry } from "./expiry.ts";
import { collectHeaders } from "./header-text.ts";
import { describe, parseIdOrName, parseName } from "./id-or-name.ts";
import { collectKeyValue } from "./key-value.ts";
import { bytesText } from "./payload.ts";
import { parseSize, sizeText } from "./size.ts";
import { parseTimestamp, timestampText } from "./timestamp.ts";
import { parseBatchCount, parseU64, U64_MAX } from "./whole-number.ts";

test("a token of digits is an id and anything else is a name", () => {
  assert.equal(parseIdOrName("7"), 7);
  assert.equal(parseIdOrName("4294967295"), 4_294_967_295);
  assert.equal(parseIdOrName("7a"), "7a");
  assert.equal(parseIdOrName("-7"), "-7");
  assert.throws(() => parseIdOrName("4294967296"), /at most 4294967295/);
  assert.equal(describe(7), "#7");
  assert.equal(describe("shop"), '"shop"');
});

test("a name is bounded in bytes, not in characters", () => {
  assert.equal(parseName("ä".repeat(127)), "ä".repeat(127));
  assert.throws(() => parseName("ä".repeat(128)), /this one has 256/);
  assert.throws(() => parseName(""), /this one has 0/);
});

test("an offset keeps all 64 bits", () => {
  assert.equal(parseU64("18446744073709551615"), U64_MAX);
  assert.equal(parseU64("9007199254740993"), 9_007_199_254_740_993n);
  for (const text of ["18446744073709551616", "-1", "1.5", "", "0x10"]) assert.throws(() => parseU64(text));
});

test("a count of partitions is at most what the server takes at once", () => {
  assert.equal(parseBatchCount("1000"), 1000);
  for (const text of ["0", "1001", "ten"]) assert.throws(() => parseBatchCount(text), /from 1 to 1000/);
});

test("expiry words are summed, and never is the largest number", () => {
  assert.equal(parseExpiry(["1day", "1hour", "1min", "1sec"]), 90_061_000_000n);
  assert.equal(parseExpiry(["1h 30m"]), 5_400_000_000n);
  assert.equal(parseExpiry(["2", "days"]), 172_800_000_000n);
  for (const word of ["unlimited", "none", "never_expire"]) assert.equal(parseExpiry([word]), U64_MAX);
});

test("no expiry and server_default leave the choice to the server", () => {
  assert.equal(parseExpiry([]), undefined);
  assert.equal(parseExpiry(["server_default"]), undefined);
  assert.equal(parseSize("server_default"), undefined);
});

test("a duration that has no unit, an unknown one or is too long is refused", () => {
  for (const text of ["5", "5 parsecs", "day", "", "1day x"]) assert.throws(() => parseDuration(text), text);
  assert.equal(parseDuration("4294967295s"), 4_294_967_295_000_000n);
  assert.throws(() => parseDuration("4294967296s"), /at most/);
  assert.equal(parseDuration("1500us"), 1_500n);
});

test("a duration reads back in the largest units", () => {
  assert.equal(durationText(90_061_000_000n), "1day 1h 1min 1s");
  assert.equal(durationText(172_800_000_000n), "2days");
  assert.equal(durationText(15n), "15us");
});

test("sizes know decimal and binary units", () => {
  assert.equal(parseSize("15GB"), 15_000_000_000n);
  assert.equal(parseSize("128MiB"), 134_217_728n);
  assert.equal(parseSize("128 MiB"), 134_217_728n);
  assert.equal(parseSize("4096"), 4_096n);
  assert.equal(parseSize("unlimited"), U64_MAX);
  for (const text of ["many", "5 parsecs", "-1", "99999999999TiB"]) assert.throws(() => parseSize(text), text);
  assert.equal(sizeText(1_610_612_736), "1.50 GiB");
  assert.equal(sizeText(12), "12 B");
});

test("a time is given in microseconds or as a date and shown with all its digits", () => {
  assert.equal(parseTimestamp("1790000000000001"), 1_790_000_000_000_001n);
  assert.equal(parseTimestamp("2026-09-21T10:00:00Z"), 1_789_984_800_000_000n);
  assert.throws(() => parseTimestamp("yesterday"), /ISO|date/);
  assert.equal(timestampText(1_789_984_800_000_001n), "2026-09-21 10:00:00.000001 UTC");
  assert.equal(timestampText(U64_MAX), "18446744073709551615us");
});

test("a setting is split at its first equals sign", () => {
  assert.deepEqual(collectKeyValue("a=b=c"), [{ key: "a", value: "b=c" }]);
  assert.deepEqual(collectKeyValue("b=1", [{ key: "a", value: "0" }]).length, 2);
  assert.throws(() => collectKeyValue("a"), /KEY=VALUE/);
  assert.throws(() => collectKeyValue("=1"), /1 to 255/);
  assert.throws(() => collectKeyValue(`a=${"x".repeat(256)}`), /1 to 255/);
  assert.throws(() => collectKeyValue("a=1", [{ key: "a", value: "0" }]), /twice/);
});

test("headers are split at the first two colons, and kinds ignore case", () => {
  assert.deepEqual(collectHeaders("url:String:http://x:1/,n:UINT8:255"), [
    { key: "url", kind: "string", value: "http://x:1/" },
    { key: "n", kind: "uint8", value: 255 },
  ]);
  assert.equal(collectHeaders("b:bool:true", collectHeaders("a:bool:false")).length, 2);
});

test("header values of every kind are exact, and what does not fit is refused", () => {
  const valueOf = (text: string) => collectHeaders(text)[0]?.value;
  assert.equal(valueOf("k:int128:-170141183460469231731687303715884105728"), -(2n ** 127n));
  assert.equal(valueOf("k:uint128:340282366920938463463374607431768211455"), 2n ** 128n - 1n);
  assert.equal(valueOf("k:uint64:18446744073709551615"), U64_MAX);
  assert.equal(valueOf("k:float64:0.1"), 0.1);
  assert.deepEqual(valueOf("k:raw:ab"), new Uint8Array([97, 98]));
  for (const text of ["k:uint8:256", "k:int8:-129", "k:uint64:-1", "k:bool:1", "k:float32:1e39", "k:float64:"]) {
    assert.throws(() => collectHeaders(text), text);
  }
  assert.throws(() => collectHeaders("k:colour:red"), /is not a kind/);
  assert.throws(() => collectHeaders("k=v"), /key:kind:value/);
  assert.throws(() => collectHeaders(":string:v"), /1 to 255/);
});

test("payloads that are not text are shown in base64", () => {
  assert.deepEqual(bytesText(new TextEncoder().encode("grüße")), { text: "grüße", encoding: "utf-8" });
  assert.deepEqual(bytesText(Uint8Array.of(0xff, 0)), { text: "/wA=", encoding: "base64" });
});
