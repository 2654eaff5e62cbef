import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { spawnCli } from "../fakes/server-under-test.ts";

interface ShownNode {
  readonly name: string;
  readonly role: string;
  readonly pid: number;
  readonly tcp_address: string;
  readonly data: string;
}

const PATIENCE_MS = 60_000;

/** The document that the command prints once a node leads. */
function shown({ stdout, stderr }: ChildProcess): Promise<readonly ShownNode[]> {
  return new Promise((resolve, reject) => {
    let [text, words] = ["", ""];
    const timer = setTimeout(() => reject(new Error(`no nodes: ${text}${words}`)), PATIENCE_MS);
    stderr?.on("data", (bytes) => {
      words += String(bytes);
    });
    stdout?.on("data", (bytes) => {
      text += String(bytes);
      if (!text.endsWith("]\n")) return;
      clearTimeout(timer);
      resolve(JSON.parse(text));
    });
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Tries again until it works: an election takes seconds. */
async function insist(args: readonly string[], address: string): Promise<string> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const { exitCode, stdout, stderr } = await spawnCli(args, { address }).finished;
    if (exitCode === 0) return stdout;
    assert.ok(Date.now() < deadlineMs, stderr);
  }
}

test("One command starts three nodes, brings a killed leader back and ends all of them.", async () => {
  const environment = { MILLRACE_TCP_ADDRESS: "127.0.0.1:1", MILLRACE_USERNAME: "nobody" };
  const args = ["cluster", "dev", "--port", "0", "--restart-after", "1", "--output", "json"];
  const { child, finished } = spawnCli(args, undefined, environment);
  try {
    const nodes = await shown(child);
    assert.deepEqual(
      nodes.map(({ name, pid }) => [name, isAlive(pid)]),
      [
        ["n0", true],
        ["n1", true],
        ["n2", true],
      ],
    );
    const leader = nodes.find(({ role }) => role === "leader");
    const other = nodes.find(({ role }) => role === "follower");
    assert.ok(leader !== undefined && other !== undefined);
    await insist(["stream", "create", "shop"], other.tcp_address);
    process.kill(leader.pid, "SIGKILL");
    await insist(["topic", "create", "shop", "orders", "1", "none"], other.tcp_address);
    const topics = await insist(["topic", "list", "shop", "--output", "json"], leader.tcp_address);
    assert.deepEqual(
      JSON.parse(topics).map(({ name }: { name: string }) => name),
      ["orders"],
    );
    child.kill("SIGINT");
    assert.equal((await finished).exitCode, 0);
    assert.deepEqual(
      nodes.map(({ pid }) => isAlive(pid)),
      [false, false, false],
    );
    assert.ok(!existsSync(dirname(leader.data)), "the data of a run goes with it");
  } finally {
    child.kill("SIGTERM");
    await finished;
  }
});

test("A node that cannot start is told with what it said, and the others are stopped.", async () => {
  const environment = { MILLRACE_ROOT_PASSWORD: "x".repeat(200) };
  const { finished } = spawnCli(["cluster", "dev", "--nodes", "2", "--port", "0"], undefined, environment);
  const { exitCode, stderr } = await finished;
  assert.equal(exitCode, 1);
  assert.match(stderr, /Node n\d did not start\. It said: .*root user's password/s);
});
