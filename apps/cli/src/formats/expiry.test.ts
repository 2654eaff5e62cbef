import assert from "node:assert/strict";
import { test } from "node:test";
import { parseExpiry } from "./expiry.ts";
import { parseSize } from "./size.ts";
import { U64_MAX } from "./whole-number.ts";

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
