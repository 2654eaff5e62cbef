#!/usr/bin/env node
// Runs every *.test.ts below the current package in one process with node:test.
// Usage: node ../../tools/test.mjs [path fragment ...]   (fragments narrow the files)
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Test files below `folder`, sorted, so that a run is the same on every machine. */
function testFiles(folder) {
  const found = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules" || entry.name === "dist") continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(...testFiles(path));
    else if (entry.name.endsWith(".test.ts")) found.push(path);
  }
  return found.sort();
}

if (process.env.MILLRACE_TEST_FILES === undefined) {
  const fragments = process.argv.slice(2);
  const files = testFiles(process.cwd()).filter((file) => fragments.every((part) => file.includes(part)));
  if (files.length === 0) {
    console.error(`No *.test.ts below ${process.cwd()} matches ${JSON.stringify(fragments)}`);
    process.exit(1);
  }
  const tsx = createRequire(join(resolve(here, ".."), "package.json")).resolve("tsx");
  const flags = [
    "--conditions=millrace-source",
    `--import=${pathToFileURL(tsx).href}`,
    "--test-reporter=spec",
  ];
  const child = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url)], {
    stdio: "inherit",
    // NODE_PATH, which package managers' shims set, would let a test find modules that an install does not give.
    env: { ...process.env, NODE_PATH: "", MILLRACE_TEST_FILES: JSON.stringify(files) },
  });
  child.on("exit", (code) => process.exit(code ?? 1));
} else {
  for (const file of JSON.parse(process.env.MILLRACE_TEST_FILES)) await import(pathToFileURL(file).href);
}
