#!/usr/bin/env node
// Runs every *.test.ts below the current package in one process with node:test.
// Usage: node ../../tools/test.mjs [path fragment ...]   (fragments narrow the files)
// Processes that tests start and leave running are named, fail the run and are ended with it.
import { ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** A process that was told to end, or that reads the end of its input, is gone by then. */
const GRACE_MS = 2000;
/** A group of its own lets the whole family of a run be ended; Windows has none. */
const hasGroups = process.platform !== "win32";

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

/** Runs this script again as the process of the tests, and ends what is left of its group. */
function runTests(files) {
  const tsx = createRequire(join(resolve(here, ".."), "package.json")).resolve("tsx");
  const flags = [
    "--conditions=millrace-source",
    `--import=${pathToFileURL(tsx).href}`,
    "--test-reporter=spec",
  ];
  const child = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url)], {
    stdio: "inherit",
    detached: hasGroups,
    // NODE_PATH, which package managers' shims set, would let a test find modules that an install does not give.
    env: { ...process.env, NODE_PATH: "", MILLRACE_TEST_FILES: JSON.stringify(files) },
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signalGroup(child, signal));
  child.on("exit", (code) => {
    signalGroup(child, "SIGKILL");
    process.exit(code ?? 1);
  });
}

function signalGroup(child, signal) {
  if (!hasGroups) return child.kill(signal);
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** Children of this process that run, noted as they start. */
function watchChildren() {
  const running = new Set();
  const start = ChildProcess.prototype.spawn;
  ChildProcess.prototype.spawn = function (options) {
    const result = start.call(this, options);
    if (this.pid === undefined) return result;
    running.add(this);
    this.once("exit", () => running.delete(this));
    return result;
  };
  return running;
}

/**
 * Ends the children that still run when all tests are done; a test that failed before it stopped its server left
 * one, and would keep this process from its end. Throws when there are any, so that no run passes with one.
 */
async function endChildren(running) {
  const deadlineMs = performance.now() + GRACE_MS;
  while (running.size > 0 && performance.now() < deadlineMs) await sleep(20);
  const left = [...running];
  for (const child of left) {
    child.kill("SIGKILL");
    // Its own children may hold the other ends of its pipes.
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
  if (left.length === 0) return;
  // Not every Node counts a hook of the whole run that fails.
  process.exitCode = 1;
  const names = left.map(({ pid, spawnargs }) => `\n  ${pid}: ${spawnargs.join(" ")}`).join("");
  throw new Error(`Tests ended and left processes running:${names}`);
}

if (process.env.MILLRACE_TEST_FILES === undefined) {
  const fragments = process.argv.slice(2);
  const files = testFiles(process.cwd()).filter((file) => fragments.every((part) => file.includes(part)));
  if (files.length === 0) {
    console.error(`No *.test.ts below ${process.cwd()} matches ${JSON.stringify(fragments)}`);
    process.exit(1);
  }
  runTests(files);
} else {
  const running = watchChildren();
  let allKnown = () => {};
  const known = new Promise((done) => {
    allKnown = done;
  });
  // No test begins before all are known, or the hook for the end would come after the first file.
  before(() => known);
  after(() => endChildren(running));
  try {
    for (const file of JSON.parse(process.env.MILLRACE_TEST_FILES)) await import(pathToFileURL(file).href);
  } finally {
    allKnown();
  }
}
