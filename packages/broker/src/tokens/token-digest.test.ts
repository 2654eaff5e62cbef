import assert from "node:assert/strict";
import { test } from "node:test";
import { loadTokenDigest } from "./token-digest.ts";

test("The digest of a token is BLAKE3 of its text, the same every time.", async () => {
  const digest = await loadTokenDigest();
  const ofNothing = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
  assert.equal(digest(""), ofNothing);
  assert.match(digest("token"), /^[0-9a-f]{64}$/);
  assert.notEqual(digest("token"), digest("Token"));
  assert.equal(digest(""), ofNothing);
});
