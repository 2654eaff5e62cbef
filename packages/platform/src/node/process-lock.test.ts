import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { NodeDisk } from "./node-disk.ts";
import { ownIdentity } from "./process-identity.ts";

const linux = process.platform === "linux";
const roots: string[] = [];
after(async () => {
  for (const root of roots) await rm(root, { recursive: true, force: true });
});

async function freshRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "millrace-lock-"));
  roots.push(root);
  return root;
}

/** A lock file as a process with this identity would have left it. */
function writeLock(root: string, holder: object): Promise<void> {
  return writeFile(join(root, "lock"), JSON.stringify({ token: "left-behind", ...holder }));
}

function isInUse(pid: number, root: string) {
  return (error: unknown) => {
    assert.ok(isCodedError(error, ErrorCode.DataDirectoryInUse));
    assert.deepEqual(error.details, { pid, path: join(root, "lock") });
    assert.ok(error.message.includes(String(pid)) && error.message.includes(root));
    return true;
  };
}

test("the lock of a process that runs is refused, and the refusal names pid and path", async () => {
  const root = await freshRoot();
  const lock = await new NodeDisk(root).lock("lock");
  await assert.rejects(new NodeDisk(root).lock("lock"), isInUse(process.pid, root));
  await lock.release();
  assert.deepEqual(await readdir(root), []);
});

test("a lock of another process that still runs is refused", async () => {
  const root = await freshRoot();
  const child = await startHolder(root);
  await assert.rejects(new NodeDisk(root).lock("lock"), isInUse(child.pid ?? 0, root));
  await kill(child);
});

test("a holder that this process cannot see, but that has the kernel's lock, keeps it", {
  skip: !linux,
}, async () => {
  const root = await freshRoot();
  const lock = await new NodeDisk(root).lock("lock");
  await writeLock(root, { pid: 2 ** 30, startTicks: "5", bootId: "another machine" });
  await assert.rejects(new NodeDisk(root).lock("lock"), isInUse(2 ** 30, root));
  await lock.release();
  await (await new NodeDisk(root).lock("lock")).release();
});

test("the lock of a process that was killed is taken over, and nothing is left beside it", async () => {
  const root = await freshRoot();
  const child = await startHolder(root);
  await kill(child);
  const lock = await new NodeDisk(root).lock("lock");
  assert.equal(JSON.parse(await readFile(join(root, "lock"), "utf8")).pid, process.pid);
  assert.deepEqual(await readdir(root), ["lock"]);
  await lock.release();
});

test("the lock of an earlier process with a number that is in use again is taken over", {
  skip: !linux,
}, async () => {
  const root = await freshRoot();
  await writeLock(root, { ...ownIdentity(), startTicks: "1" });
  await (await new NodeDisk(root).lock("lock")).release();
});

test("the lock of a process from before the machine's restart is taken over", { skip: !linux }, async () => {
  const root = await freshRoot();
  await writeLock(root, { ...ownIdentity(), bootId: "another run of the machine" });
  await (await new NodeDisk(root).lock("lock")).release();
});

test("a lock without a start time is trusted by its pid alone", async () => {
  const root = await freshRoot();
  await writeLock(root, { pid: process.pid, startTicks: "", bootId: "" });
  await assert.rejects(new NodeDisk(root).lock("lock"), isInUse(process.pid, root));
});

for (const text of ["", "{", "\0\0\0\0", '{"pid":"x"}', "null"]) {
  test(`a lock file of ${JSON.stringify(text)}, as power loss leaves it, is taken over`, async () => {
    const root = await freshRoot();
    await writeFile(join(root, "lock"), text);
    await (await new NodeDisk(root).lock("lock")).release();
    assert.deepEqual(await readdir(root), []);
  });
}

test("of many that find a dead holder's lock exactly one takes it over", async () => {
  for (let round = 0; round < 10; round++) {
    const root = await freshRoot();
    await writeLock(root, { pid: 2 ** 30, startTicks: "5", bootId: "" });
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => new NodeDisk(root).lock("lock")),
    );
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    assert.equal(won.length, 1);
    await won[0]?.release();
  }
});

test("a right to remove that a killed process left does not block the next one", async () => {
  const root = await freshRoot();
  await writeLock(root, { pid: 2 ** 30, startTicks: "5", bootId: "" });
  const killedTaker = JSON.stringify({ pid: 2 ** 30 + 1, startTicks: "6", bootId: "", token: "taker" });
  await writeFile(join(root, "lock.take.left-behind.0"), killedTaker);
  await writeFile(join(root, "lock.own.taker"), killedTaker);
  const lock = await new NodeDisk(root).lock("lock");
  assert.deepEqual(await readdir(root), ["lock"]);
  await lock.release();
});

test("of two processes that start at once exactly one gets the lock", async () => {
  const root = await freshRoot();
  await writeLock(root, { pid: 2 ** 30, startTicks: "5", bootId: "" });
  const outcomes = await Promise.all([startRacer(root), startRacer(root), startRacer(root)]);
  assert.deepEqual(outcomes.map(({ said }) => said).sort(), ["held", "refused", "refused"]);
  for (const { child } of outcomes) await kill(child);
});

test("a lock in a directory that is not there is an IoError", async () => {
  const root = await freshRoot();
  await assert.rejects(new NodeDisk(root).lock("no/lock"), (error) => isCodedError(error, ErrorCode.IoError));
});

test("where no byte can be written the kernel's lock alone holds, and ends with its process", {
  skip: !linux,
}, async () => {
  const root = await freshRoot();
  await writeLock(root, { pid: 2 ** 30, startTicks: "5", bootId: "" });
  const { child, said } = await startRacer(root, "ulimit -f 0;");
  assert.equal(said, "held");
  await assert.rejects(new NodeDisk(root).lock("lock"), isInUse(0, root));
  await kill(child);
  await (await new NodeDisk(root).lock("lock")).release();
});

/** A process that takes the lock, or says that it was refused, and then waits to be killed. */
async function startRacer(root: string, limits = ""): Promise<{ child: ChildProcess; said: string }> {
  const module = JSON.stringify(new URL("./node-disk.ts", import.meta.url).href);
  const script = `
    const { NodeDisk } = await import(${module});
    const taken = new NodeDisk(${JSON.stringify(root)}).lock("lock");
    const outcome = await taken.then(() => "held", () => "refused");
    process.stdout.write(outcome);
    setInterval(() => {}, 1000);`;
  const command = [process.execPath, ...process.execArgv, "--input-type=module", "--eval", script];
  const child = spawn("sh", ["-c", `${limits} exec "$@"`, "sh", ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit").then(() => ["gone"]);
  const [said] = await Promise.race([once(child.stdout, "data"), gone]);
  return { child, said: String(said) };
}

async function startHolder(root: string): Promise<ChildProcess> {
  const { child, said } = await startRacer(root);
  assert.equal(said, "held");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
