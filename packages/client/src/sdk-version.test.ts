import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SDK_VERSION } from "./sdk-version.ts";

test("the client names the version of its package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal(SDK_VERSION, manifest.version);
});
