#!/usr/bin/env node
// Runs the tests of the named workspaces (default: a smoke part) on Node 24, which comes as a package.
// Usage: node tools/node24/smoke.mjs [packages/framing ...]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { node24 } from "./node24.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const SMOKE = [
  "packages/framing",
  "packages/transports",
  "packages/storage",
  "packages/broker",
  "apps/server",
];

const node = node24();
let code = 0;
for (const workspace of process.argv.length > 2 ? process.argv.slice(2) : SMOKE) {
  console.log(`\n${workspace} on Node 24`);
  const run = spawnSync(node, [join(root, "tools", "test.mjs")], {
    cwd: join(root, workspace),
    stdio: "inherit",
  });
  if (run.status !== 0) code = 1;
}
process.exit(code);
