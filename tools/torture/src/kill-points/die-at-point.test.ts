import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SeededRandom } from "@millrace/testkit";
import { chooseKillPoint, describeKillPoint, type KillPoint } from "./kill-point.ts";

const DIE_AT_POINT = fileURLToPath(new URL("die-at-point.cjs", import.meta.url));
const PARTITION = join("data", "partitions", "0-1");

/** Makes the calls of a server, through the same functions, in the main thread and in one of its own. */
const WORK = `
const fs = require("node:fs");
const { promisify } = require("node:util");
const [open, writev, fdatasync, fsync, ftruncate] =
  [fs.open, fs.writev, fs.fdatasync, fs.fsync, fs.ftruncate].map(promisify);
const { O_RDWR, O_CREAT } = fs.constants;
const work = async () => {
  const log = await open("${PARTITION}/1.log", O_RDWR | O_CREAT, 0o600);
  for (let at = 0; at < 3; at += 1) await writev(log, [Buffer.from("ab"), Buffer.from("cd")], 4 * at);
  await fdatasync(log);
  await ftruncate(log, 6);
  await fs.promises.rename("${PARTITION}/1.log", "${PARTITION}/2.log");
  await fs.promises.rm("${PARTITION}", { recursive: true });
};
const { Worker, isMainThread } = require("node:worker_threads");
if (isMainThread && process.env.IN_THREAD === "yes") new Worker(__filename);
else work().then(() => process.exit(0));
`;

/** Runs the work with an order, and shows the files that it left to \`look\`. */
function run(point: Partial<KillPoint>, look: (partition: string) => void, inThread = false): void {
  const folder = mkdtempSync(join(tmpdir(), "millrace-kill-point-"));
  try {
    const partition = join(folder, PARTITION);
    mkdirSync(partition, { recursive: true });
    writeFileSync(join(folder, "work.cjs"), WORK);
    writeFileSync(join(partition, "0.ops"), "");
    writeFileSync(join(folder, "kill-at"), JSON.stringify({ count: 1, share: 0.5, ...point }));
    const env = { ...process.env, IN_THREAD: inThread ? "yes" : "no" };
    const args = ["--require", DIE_AT_POINT, "work.cjs"];
    const { signal, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
    assert.equal(signal, "SIGKILL", stderr);
    look(partition);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const holds = (name: string, text: string) => (partition: string) =>
  assert.equal(readFileSync(join(partition, name), "utf8"), text);

test("a process dies before, within and after the very call that is named, in whatever thread", () => {
  run({ call: "create", file: "log", when: "before" }, (at) => assert.deepEqual(readdirSync(at), ["0.ops"]));
  run({ call: "create", file: "log", when: "after" }, holds("1.log", ""));
  for (const inThread of [false, true]) {
    run({ call: "write", file: "log", when: "before", count: 2 }, holds("1.log", "abcd"), inThread);
    run({ call: "write", file: "log", when: "within", count: 2 }, holds("1.log", "abcdab"), inThread);
    run({ call: "write", file: "log", when: "after", count: 2 }, holds("1.log", "abcdabcd"), inThread);
  }
  run({ call: "datasync", file: "log", when: "after" }, holds("1.log", "abcdabcdabcd"));
  run({ call: "truncate", file: "log", when: "after" }, holds("1.log", "abcdab"));
  run({ call: "rename", file: "log", when: "before" }, holds("1.log", "abcdab"));
  run({ call: "rename", file: "log", when: "after" }, holds("2.log", "abcdab"));
  run({ call: "remove", file: "partition", when: "within" }, (at) => assert.equal(readdirSync(at).length, 1));
  run({ call: "remove", file: "partition", when: "after" }, (at) => assert.equal(existsSync(at), false));
});

test("points repeat with their seed, and name themselves", () => {
  const choose = (seed: number) => chooseKillPoint(new SeededRandom(seed), "load");
  assert.deepEqual(choose(5), choose(5));
  const seen = new Set(
    Array.from({ length: 500 }, (_, seed) => describeKillPoint({ ...choose(seed), count: 1 })),
  );
  for (const text of ["within write 1 of ops", "after datasync 1 of log", "within remove 1 of partition"]) {
    assert.ok(seen.has(text), text);
  }
  assert.ok(!seen.has("before truncate 1 of log"), "no server cuts a log under load");
});
