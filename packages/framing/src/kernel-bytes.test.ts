import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

describe("the committed kernel bytes", () => {
  it("are what the sources in kernel/ compile to", async () => {
    const { kernelBytesModule } = await import(new URL("../build.mjs", import.meta.url).href);
    const committed = readFileSync(new URL("./kernel-bytes.table.ts", import.meta.url), "utf8");
    assert.ok(committed === (await kernelBytesModule()), "run `node build.mjs kernel` in packages/framing");
  });
});
