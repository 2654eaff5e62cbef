#!/usr/bin/env node
// Runs the tests of the named workspaces (default: a smoke part) on Node 24, which comes as a package.
// Usage: node tools/node24/smoke.mjs [packages/framing ...]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
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
const left = process.argv.length > 2 ? process.argv.slice(2) : [...SMOKE];
let code = 0;

/** Runs a workspace's tests and prints what they said when they are over: others run at the same time. */
async function test(workspace) {
  const run = spawn(node, [join(root, "tools", "test.mjs")], { cwd: join(root, workspace) });
  const said = [];
  for (const stream of [run.stdout, run.stderr]) stream.on("data", (bytes) => said.push(bytes));
  const [status] = await once(run, "close");
  console.log(`\n${workspace} on Node 24`);
  process.stdout.write(Buffer.concat(said));
  if (status !== 0) code = 1;
}

async function lane() {
  for (let workspace = left.pop(); workspace !== undefined; workspace = left.pop()) await test(workspace);
}

await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, lane));
process.exitCode = code;
