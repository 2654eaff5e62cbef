#!/usr/bin/env node
// Runs the tests of the named workspaces (default: a smoke part) on Node 24, which comes as a package.
// Usage: node tools/node24/smoke.mjs [packages/framing ...]
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const SMOKE = [
  "packages/framing",
  "packages/transports",
  "packages/storage",
  "packages/broker",
  "apps/server",
];

const require = createRequire(join(here, "package.json"));
const folder = dirname(require.resolve(`node-linux-${process.arch}/package.json`));
const node = join(folder, "bin", "node");
if (!existsSync(node)) {
  console.error(`Node 24 is not at ${node}; install again on Linux x64 or arm64.`);
  process.exit(1);
}

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
