import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { connect } from "./connection/connect.ts";
import { runFake } from "./fakes/fake-world.ts";
import { type ServerUnderTest, startServer } from "./fakes/server-under-test.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-damage-"));
let server: ServerUnderTest | undefined;

after(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: readonly string[]) {
  const address = server === undefined ? [] : ["--tcp-server-address", server.address];
  return runFake([...address, ...args, "--output", "json"], { connect });
}

async function restart(): Promise<void> {
  await stop();
  server = await startServer({ folder });
}

async function stop(): Promise<void> {
  assert.equal((await server?.stop()) ?? 0, 0);
  server = undefined;
}

const STOPPED = ["topic", "verify", "--data-dir", folder];
const ONLINE = ["topic", "verify", "shop", "orders"];

/** Segment files of partition 0 of the only topic, in order; relative to the data directory. */
function logs(): string[] {
  const partitions = "streams/0/topics/0/partitions";
  const partition = readdirSync(join(folder, partitions)).find((name) => name.startsWith("0-"));
  const files = readdirSync(join(folder, partitions, partition ?? "")).filter((name) =>
    name.endsWith(".log"),
  );
  return files.toSorted().map((name) => `${partitions}/${partition}/${name}`);
}

function flip(file: string, position: number): void {
  const path = join(folder, file);
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ 0x10;
  writeFileSync(path, bytes);
}

test("damage is found on a running and on a stopped server, by file and position, and polls answer its code", async () => {
  await restart();
  await run("stream", "create", "shop");
  const made = await run("topic", "create", "shop", "orders", "2", "none", "--set", "segment_size=1MiB");
  assert.equal(made.exitCode, 0, made.stderr);
  for (let at = 0; at < 10; at++) {
    const sent = await run("message", "send", "shop", "orders", "-p", "0", String(at).repeat(262_144));
    assert.equal(sent.exitCode, 0, sent.stderr);
  }
  const good = await run(...ONLINE);
  assert.deepEqual([good.exitCode, JSON.parse(good.stdout).messages], [0, 10]);
  const refused = await run(...STOPPED);
  assert.equal(refused.exitCode, 1);
  assert.equal(JSON.parse(refused.stderr).error.name, "DataDirectoryInUse");
  await stop();

  const names = [[], ["shop"], ["shop", "orders"], ["0", "0", "-p", "0"]];
  for (const named of names) {
    const verified = await run(...STOPPED, ...named);
    assert.deepEqual([verified.exitCode, JSON.parse(verified.stdout).messages], [0, 10], verified.stderr);
  }
  assert.equal((await run(...STOPPED, "shop", "none")).exitCode, 5);

  const [sealed = "", , active = ""] = logs();
  flip(sealed, 300_000);
  flip(active, 500);
  const damages = [
    { path: sealed, position: 262_144 + 48 + 256 + 256, kind: "batch", offset: 1 },
    { path: active, position: 256, kind: "batch", offset: 8 },
  ];
  const stopped = await run(...STOPPED);
  assert.equal(stopped.exitCode, 6);
  assert.deepEqual(JSON.parse(stopped.stdout).damages, damages);

  const journal = `metadata/${readdirSync(join(folder, "metadata")).find((name) => name.endsWith(".wal"))}`;
  const before = readFileSync(join(folder, journal));
  flip(journal, 400);
  const nameless = await run(...STOPPED);
  assert.equal(nameless.exitCode, 6);
  const found = JSON.parse(nameless.stdout);
  assert.deepEqual([found.damages, found.partitions[0].stream], [damages, "#0"]);
  assert.ok(found.catalog_fault.includes(journal), found.catalog_fault);
  assert.equal((await run(...STOPPED, "0", "0")).exitCode, 6, "ids are in the names of folders");
  assert.equal(JSON.parse((await run(...STOPPED, "shop")).stderr).error.name, "MetadataDamaged");
  writeFileSync(join(folder, journal), before);

  await restart();
  const online = await run(...ONLINE);
  assert.equal(online.exitCode, 6);
  assert.deepEqual(JSON.parse(online.stdout).damages, damages);
  const poll = (offset: number) => run("message", "poll", "shop", "orders", "0", "--offset", String(offset));
  for (const offset of [1, 8]) {
    const polled = await poll(offset);
    assert.equal(polled.exitCode, 6, "damage is never an empty answer");
    const { error } = JSON.parse(polled.stderr);
    assert.equal(error.code, 20_002);
    assert.match(error.next, /millrace topic verify shop orders/);
  }
  for (const offset of [0, 2, 9]) assert.equal(JSON.parse((await poll(offset)).stdout)[0].offset, offset);
});
