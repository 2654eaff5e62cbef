import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runFake } from "./fakes/fake-world.ts";
import { CLI, runReal, type ServerUnderTest, spawnCli, startServer } from "./fakes/server-under-test.ts";

const ORDERS = fileURLToPath(new URL("../../../examples/quick-start/orders.ndjson", import.meta.url));
const orders = readFileSync(ORDERS, "utf8").trimEnd().split("\n");

let server: ServerUnderTest;
const home = mkdtempSync(join(tmpdir(), "millrace-home-"));

before(async () => {
  assert.ok(existsSync(CLI), "the command is built: run pnpm build first");
  server = await startServer();
});

after(async () => {
  rmSync(home, { recursive: true, force: true });
  assert.equal(
    await server?.stop(),
    0,
    "SIGTERM stops the server in order, and the command ends with its exit code",
  );
});

/** Runs a command line in this process, against the real server: faster than a process each. */
function runHere(args: readonly string[], stdin = "", address = server.address) {
  return runFake(["--tcp-server-address", address, ...args], { connect, openPinger, stdin });
}

async function json(...args: string[]) {
  const ran = await runHere([...args, "--output", "json"]);
  assert.equal(ran.exitCode, 0, `${args.join(" ")}: ${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

test("users and tokens: create, log in by either, stay logged in, be refused", async () => {
  const made = await json("user", "create", "ann", "first-pw", "-g", "r_str");
  assert.deepEqual([made.username, made.permissions.global.read_streams], ["ann", true]);
  const as = (credentials: string[], ...args: string[]) =>
    runFake(["--tcp-server-address", server.address, ...credentials, ...args], {
      connect,
      environment: {},
      home,
    });
  const ann = ["-u", "ann", "-p", "first-pw"];
  assert.equal((await as(ann, "stream", "list")).exitCode, 0);
  assert.equal((await as(ann, "stream", "create", "hers")).exitCode, 4);
  assert.equal((await as(ann, "user", "password", "ann", "first-pw", "second-pw")).exitCode, 0);
  const wrong = await as(ann, "me");
  assert.equal(wrong.exitCode, 4);
  assert.match(wrong.stderr, /42 InvalidCredentials/);
  const renewed = ["-u", "ann", "-p", "second-pw"];
  const created = await as(renewed, "pat", "create", "ci-token", "1h", "--output", "json");
  const { token } = JSON.parse(created.stdout);
  assert.equal((await as(["-t", token], "stream", "list")).exitCode, 0);
  assert.equal((await as(renewed, "login")).exitCode, 0);
  assert.equal(JSON.parse((await as([], "me", "--output", "json")).stdout).user_id, made.id);
  const listed = JSON.parse((await as([], "pat", "list", "--output", "json")).stdout);
  assert.deepEqual(
    listed.map(({ name }: { name: string }) => name),
    ["ci-token", "millrace-cli-session"],
  );
  await json("user", "status", "ann", "inactive");
  assert.equal((await as([], "me")).exitCode, 4);
  await json("user", "status", "ann", "active");
  assert.equal((await as([], "logout")).exitCode, 0);
  assert.equal((await as([], "me")).exitCode, 4);
  assert.equal((await json("user", "delete", "ann")).deleted, true);
  assert.equal((await as(["-t", token], "me")).exitCode, 4);
});

test("the quick start works word for word: create, send the file, poll and tail it", async () => {
  assert.equal((await json("stream", "create", "shop")).name, "shop");
  const topic = await json(
    "topic",
    "create",
    "shop",
    "orders",
    "3",
    "none",
    "7days",
    "--durability",
    "persisted",
  );
  assert.equal(topic.partitions_count, 3);
  assert.equal(topic.message_expiry, 604_800_000_000);
  const sent = await runReal(
    ["message", "send", "shop", "orders", "--lines", ORDERS, "--output", "json"],
    server,
  );
  assert.equal(JSON.parse(sent.stdout).messages, orders.length);

  const tail = [
    "message",
    "tail",
    "shop",
    "orders",
    "--first",
    "--count",
    String(orders.length),
    "--output",
    "json",
  ];
  const tailed = await runReal(tail, server);
  assert.equal(tailed.exitCode, 0, tailed.stderr);
  const payloads = tailed.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).payload);
  assert.deepEqual(payloads.sort(), [...orders].sort());
  assert.equal((await json("topic", "get", "shop", "orders")).messages_count, orders.length);
});

test("messages of one key are in one partition, in order, with headers and exact ids", async () => {
  await json("topic", "create", "shop", "keyed", "4", "none");
  const stdin = "one\ntwo\nthree\n";
  const headers = ["-m", "customer-7", "-H", "n:uint128:340282366920938463463374607431768211455"];
  const sent = await runReal(
    ["message", "send", "shop", "keyed", ...headers, "--output", "json"],
    server,
    stdin,
  );
  const [written] = JSON.parse(sent.stdout).partitions;
  const poll = ["message", "poll", "shop", "keyed", String(written.partition_id), "-m", "10"];
  const text = (await runHere([...poll, "--first", "--output", "json"])).stdout;
  assert.deepEqual(
    JSON.parse(text).map((message: { payload: string }) => message.payload),
    ["one", "two", "three"],
  );
  assert.match(text, /"value": 340282366920938463463374607431768211455,/);
  assert.match(text, /"id": \d{30,},/);
});

test("every way to start a poll finds its messages, and a stored offset moves the next one", async () => {
  const poll = (...args: string[]) => json("message", "poll", "shop", "orders", "0", ...args);
  const all = await poll("--first", "-m", "500");
  const offsetsOf = (messages: { offset: number }[]) => messages.map(({ offset }) => offset);
  const last = all.length - 1;
  assert.deepEqual(offsetsOf(await poll("-l", "-m", "2")), [last - 1, last]);
  assert.deepEqual(offsetsOf(await poll("-o", "3", "-m", "2")), [3, 4]);
  assert.equal((await poll("--timestamp", String(all[0].timestamp), "-m", "1"))[0].offset, 0);
  assert.deepEqual(await poll("--timestamp", "2100-01-01T00:00:00Z"), []);
  const place = ["billing", "shop", "orders", "0"];
  await json("consumer-offset", "set", ...place, "5");
  assert.equal((await json("consumer-offset", "get", ...place)).stored_offset, 5);
  assert.deepEqual(offsetsOf(await poll("-n", "-c", "billing", "-m", "1", "-a")), [6]);
  await json("consumer-offset", "delete", ...place);
  assert.equal((await runHere(["consumer-offset", "get", ...place])).exitCode, 5);
});

test("streams, topics and partitions are changed and removed", async () => {
  await json("stream", "create", "brief");
  await json("stream", "update", "brief", "renamed");
  await json("topic", "create", "renamed", "t", "1", "none");
  await json("topic", "update", "renamed", "t", "u", "gzip", "1h", "-m", "2GiB");
  const topic = await json("topic", "get", "renamed", "u");
  assert.deepEqual([topic.compression, topic.max_topic_size], ["gzip", 2_147_483_648]);
  await json("partition", "create", "renamed", "u", "2");
  assert.equal((await json("topic", "get", "renamed", "u")).partitions.length, 3);
  await json("partition", "delete", "renamed", "u", "1");
  assert.equal((await json("topic", "list", "renamed"))[0].partitions_count, 2);
  await json("message", "send", "renamed", "u", "-p", "0", "gone soon");
  await json("segment", "delete", "renamed", "u", "0", "1");
  await json("topic", "purge", "renamed", "u");
  assert.deepEqual(await json("message", "poll", "renamed", "u", "0", "--first"), []);
  await json("stream", "purge", "renamed");
  await json("topic", "delete", "renamed", "u");
  await json("stream", "delete", "renamed");
  const names = (await json("stream", "list")).map((stream: { name: string }) => stream.name);
  assert.ok(!names.includes("renamed"));
});

test("the server answers about itself, its clients, its options and its cluster", async () => {
  assert.equal((await json("ping", "-c", "2")).times_ms.length, 2);
  const me = await json("me");
  assert.deepEqual([me.user_id, me.transport], [0, "tcp"]);
  assert.ok((await json("client", "list")).length >= 1);
  assert.equal((await json("stats")).server_version, "0.9.0");
  assert.ok(
    (await json("options", "topic")).some((option: { key: string }) => option.key === "segment_size"),
  );
  assert.equal((await json("cluster", "metadata")).nodes.length, 1);
});

test("exit codes and errors of a real server say what is wrong and what to do", async () => {
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [["stream", "create", "shop"], 1, /1012 StreamNameAlreadyExists/],
    [["stream", "delete", "nothing"], 5, /next: List the streams with: millrace stream list/],
    [["message", "send", "shop", "nothing", "x"], 5, /next: /],
    [["message", "poll", "shop", "orders", "77", "--first"], 5, /3007 PartitionNotFound/],
    [["-u", "iggy", "-p", "wrong", "stream", "list"], 4, /42 InvalidCredentials/],
    [
      ["topic", "create", "shop", "t", "1", "none", "--set", "colour=red"],
      1,
      /4041 UnsupportedOptionKey\)[\s\S]*millrace options topic/,
    ],
    [["consumer-offset", "set", "1", "shop", "orders", "0", "999999"], 1, /4100/],
  ];
  for (const [args, exitCode, expected] of cases) {
    const ran = await runHere(args);
    assert.equal(ran.exitCode, exitCode, `${args.join(" ")}: ${ran.stderr}`);
    assert.match(ran.stderr, expected);
  }
  const nobody = await runHere(["stream", "list"], "", "127.0.0.1:1");
  assert.equal(nobody.exitCode, 3);
});

test("a reader that goes away ends the command quietly", async () => {
  const args = ["message", "tail", "shop", "orders", "--first", "--output", "list"];
  const { child, finished } = spawnCli(args, server);
  child.stdout.once("data", () => child.stdout.destroy());
  const sender = setInterval(() => void runReal(["message", "send", "shop", "orders", "more"], server), 500);
  const ran = await finished;
  clearInterval(sender);
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.equal(ran.stderr, "");
});

test("Ctrl-C ends a tail with success", async () => {
  const { child, finished } = spawnCli(["message", "tail", "shop", "orders", "-n", "1"], server);
  child.stdout.once("data", () => child.kill("SIGINT"));
  const ran = await finished;
  assert.equal(ran.exitCode, 0, ran.stderr);
});

test("the bundle needs nothing of the workspace", () => {
  const code = readFileSync(CLI, "utf8");
  assert.doesNotMatch(code, /from "@millrace\//);
  assert.match(code, /^#!\/usr\/bin\/env node\n/);
});

test("consumer groups are created, shown, listed and deleted, and their lag is told in messages and time", async () => {
  await json("stream", "create", "groups");
  await json("topic", "create", "groups", "t", "2", "none");
  const created = await json("consumer-group", "create", "groups", "t", "readers");
  assert.deepEqual([created.id, created.name, created.members_count], [0, "readers", 0]);
  for (const text of ["a", "b", "c"]) await json("message", "send", "groups", "t", text, "-p", "1");
  const lag = await json("g", "lag", "groups", "t", "readers");
  assert.equal(lag.messages_behind, 3);
  assert.ok(lag.time_behind_ms > 0 && lag.time_behind_ms < 60_000);
  const shown = lag.partitions.map((one: Record<string, unknown>) => [
    one["partition_id"],
    one["owner"],
    one["stored_offset"],
    one["messages_behind"],
  ]);
  assert.deepEqual(shown, [
    [0, null, null, 0],
    [1, null, null, 3],
  ]);
  const refused = await runHere(["o", "set", "readers", "groups", "t", "1", "0", "-k", "consumer-group"]);
  assert.equal(refused.exitCode, 5, "only the owner of the partition commits for its group");
  assert.equal((await json("g", "list", "groups", "t")).length, 1);
  const group = await json("g", "get", "groups", "t", "0");
  assert.deepEqual(group.members, []);
  await json("g", "delete", "groups", "t", "readers");
  const gone = await runHere(["g", "get", "groups", "t", "readers"]);
  assert.equal(gone.exitCode, 5);
  assert.match(gone.stderr, /consumer-group list groups t/);
});
