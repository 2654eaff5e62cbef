#!/usr/bin/env node
// Runs the tests of everything that depends on the number of shards with 1, 2 and 4 of them, on this Node and on
// Node 24. Usage: npm run test:combinations -- [--node 24] [--shards 4] [packages/broker ...]
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { node24 } from "./node24.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The broker over a simulated bus; the others run whole servers. */
const WORKSPACES = ["packages/broker", "apps/server", "packages/client", "apps/cli"];

const { values, positionals } = parseArgs({
  options: { node: { type: "string", multiple: true }, shards: { type: "string", multiple: true } },
  allowPositionals: true,
});
const own = process.versions.node.split(".")[0];
const nodes = values.node ?? [...new Set([own, "24"])];
const outcomes = [];
for (const node of nodes) {
  const program = node === own ? process.execPath : node24();
  for (const shards of values.shards ?? ["1", "2", "4"]) {
    for (const workspace of positionals.length > 0 ? positionals : WORKSPACES) {
      const name = `${workspace} on Node ${node} with ${shards} ${shards === "1" ? "shard" : "shards"}`;
      console.log(`\n== ${name}`);
      const { status } = spawnSync(program, [join(root, "tools", "test.mjs")], {
        cwd: join(root, workspace),
        stdio: "inherit",
        env: { ...process.env, MILLRACE_TEST_SHARDS: shards },
      });
      outcomes.push({ name, isGood: status === 0 });
    }
  }
}
console.log("");
for (const { name, isGood } of outcomes) console.log(`${isGood ? "passed" : "FAILED"}  ${name}`);
process.exit(outcomes.every(({ isGood }) => isGood) ? 0 : 1);
