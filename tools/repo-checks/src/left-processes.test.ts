import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const RUNNER = fileURLToPath(new URL("../../test.mjs", import.meta.url));
/**
 * The process of a test, with a child of its own that holds the same pipes: a command that starts a server.
 */
const FAMILY = `
const { spawn } = require("node:child_process");
const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
console.log([process.pid, child.pid].join(" "));
setInterval(() => {}, 1000);
`;
/** A test file that starts it, writes the pids down and then does `end`. */
const FIRST = (end: string) => `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
test("starts a process", async () => {
  const child = spawn(process.execPath, ["-e", ${JSON.stringify(FAMILY)}], { stdio: ["ignore", "pipe", "pipe"] });
  const pids = await new Promise((resolve) => child.stdout.once("data", resolve));
  writeFileSync("pids.txt", String(pids));
  ${end}
});
`;
/** Another file that is known later and stops its server at the end of the run. */
const SECOND = `
import { createServer } from "node:net";
import { after, before, test } from "node:test";
const server = createServer();
before(() => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => void server.close());
await new Promise((resolve) => setTimeout(resolve, 200));
test("is known late", async () => new Promise((resolve) => setTimeout(resolve, 50)));
`;

/** Ends the process and its child. */
const STOP = "process.kill(Number(String(pids).split(' ')[1])); child.kill();";

function runTests(end: string): { readonly run: SpawnSyncReturns<string>; readonly pids: number[] } {
  const folder = mkdtempSync(join(tmpdir(), "millrace-left-processes-"));
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    writeFileSync(join(folder, "a.test.ts"), FIRST(end));
    writeFileSync(join(folder, "b.test.ts"), SECOND);
    const { MILLRACE_TEST_FILES: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    const run = spawnSync(process.execPath, [RUNNER], {
      cwd: folder,
      encoding: "utf8",
      timeout: 30_000,
      env,
    });
    const pids = readFileSync(join(folder, "pids.txt"), "utf8").trim().split(" ").map(Number);
    return { run, pids };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function assertGone(pids: readonly number[]): Promise<void> {
  assert.equal(pids.length, 2);
  for (let waits = 0; pids.some(isRunning) && waits < 100; waits += 1) await sleep(20);
  assert.deepEqual(pids.filter(isRunning), []);
}

test("a test that fails before it stops its process ends the run, and the process with its children", async () => {
  const { run, pids } = runTests("throw new Error('before the stop');");
  assert.equal(run.status, 1, run.stdout);
  assert.match(run.stdout, /before the stop/);
  assert.match(run.stdout, /✔ is known late/);
  await assertGone(pids);
});

test("a run that passes and leaves a process fails and names it", async () => {
  const { run, pids } = runTests("");
  assert.equal(run.status, 1, run.stdout);
  assert.match(run.stdout, /✔ starts a process/);
  assert.match(run.stdout, new RegExp(`left running:\\s+${pids[0]}: `));
  await assertGone(pids);
});

test("a test that fails before it stops a server of its own process ends the run", () => {
  const { run } = runTests(`
    ${STOP}
    const { createServer } = await import("node:net");
    await new Promise((resolve) => createServer().listen(0, "127.0.0.1", resolve));
    throw new Error("before the stop");
  `);
  assert.equal(run.signal, null, run.stdout);
  assert.equal(run.status, 1, run.stdout);
  assert.match(run.stdout, /before the stop/);
  assert.match(run.stdout, /✔ is known late/);
  assert.match(run.stdout, /left running:\s+TCPServerWrap/);
});

test("a run whose processes have ended passes", async () => {
  const { run } = runTests(STOP);
  assert.equal(run.status, 0, run.stdout + run.stderr);
});
