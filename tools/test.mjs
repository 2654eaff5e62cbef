#!/usr/bin/env node
// Runs every *.test.ts below the current package in one process with node:test.
// Usage: node ../../tools/test.mjs [path fragment ...]   (fragments narrow the files)
// What tests start and leave running, processes and servers, is named, fails the run and is ended with it.
import { ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
/** A process that was told to end, or that reads the end of its input, is gone by then. */
const GRACE_MS = 5000;
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
    // A server of a test that failed before it stopped it would keep the process for ever.
    "--test-force-exit",
  ];
  const child = spawn(process.execPath, [...flags, fileURLToPath(import.meta.url)], {
    stdio: "inherit",
    detached: hasGroups,
    // NODE_PATH, which package managers' shims set, would let a test find modules that an install does not
    // give.
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

/** The compiler of the test files runs beside them while its cache is cold, and ends with them. */
const isCompiler = ({ file, args = [] }) =>
  /esbuild/.test(file) && args.some((argument) => argument.startsWith("--service="));

/** Children of this process that run, noted as they start. */
function watchChildren() {
  const running = new Set();
  const start = ChildProcess.prototype.spawn;
  ChildProcess.prototype.spawn = function (options) {
    const result = start.call(this, options);
    if (this.pid === undefined || isCompiler(options)) return result;
    running.add(this);
    this.once("exit", () => running.delete(this));
    return result;
  };
  return running;
}

/** Servers of this process that still listen. */
const listening = () => process.getActiveResourcesInfo().filter((name) => name.endsWith("ServerWrap"));

/**
 * Ends the children that still run when all tests are done. Throws when there are any, or a server in this
 * process, so
 * that no run passes with one.
 */
async function endLeft(running) {
  const deadlineMs = performance.now() + GRACE_MS;
  while (running.size + listening().length > 0 && performance.now() < deadlineMs) await sleep(20);
  const left = [...running].map(({ pid, spawnargs }) => `${pid}: ${spawnargs.join(" ")}`);
  for (const child of running) {
    child.kill("SIGKILL");
    // Its own children may hold the other ends of its pipes.
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
  left.push(...listening());
  if (left.length === 0) return;
  // Not every Node counts a hook of the whole run that fails.
  process.exitCode = 1;
  throw new Error(`Tests ended and left running:\n  ${left.join("\n  ")}`);
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
  try {
    for (const file of JSON.parse(process.env.MILLRACE_TEST_FILES)) await import(pathToFileURL(file).href);
  } finally {
    // The last of the hooks for the end: those of the files stop what they have started.
    after(() => endLeft(running));
    allKnown();
  }
}
