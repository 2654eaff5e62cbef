import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findServer } from "./server-process.ts";

function withTree(files: Readonly<Record<string, string>>, check: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "millrace-find-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    check(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const MANIFEST = JSON.stringify({ name: "millrace-server", bin: { "millrace-server": "./dist/server.js" } });

test("the server beside the command in node_modules is found", () => {
  const server = "node_modules/millrace-server";
  withTree({ [`${server}/package.json`]: MANIFEST, [`${server}/dist/server.js`]: "" }, (folder) => {
    const command = join(folder, "node_modules/millrace/dist/bin/millrace.js");
    assert.equal(findServer(command), join(folder, server, "dist/server.js"));
  });
});

test("in a workspace the server's own build is found", () => {
  withTree({ "apps/server/package.json": MANIFEST, "apps/server/dist/server.js": "" }, (folder) => {
    const command = join(folder, "apps/cli/dist/bin/millrace.js");
    assert.equal(findServer(command), join(folder, "apps/server/dist/server.js"));
  });
});

test("a server that is not there or not built is not found", () => {
  withTree({ "apps/server/package.json": MANIFEST }, (folder) => {
    assert.equal(findServer(join(folder, "apps/cli/dist/bin/millrace.js")), undefined);
    assert.equal(findServer(join(folder, "elsewhere/millrace.js")), undefined);
  });
});
