import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText } from "./payload.ts";

test("payloads that are not text are shown in base64", () => {
  assert.deepEqual(bytesText(new TextEncoder().encode("grüße")), { text: "grüße", encoding: "utf-8" });
  assert.deepEqual(bytesText(Uint8Array.of(0xff, 0)), { text: "/wA=", encoding: "base64" });
});
