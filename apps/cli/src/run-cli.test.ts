import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { flattened, treeOf } from "./completion/command-tree.ts";
import { FakeClient } from "./fakes/fake-client.ts";
import { runFake } from "./fakes/fake-world.ts";
import { createProgram } from "./program.ts";
import { VERSION } from "./version.ts";

const PLACE = ["shop", "orders"];
const HOME = mkdtempSync(join(tmpdir(), "millrace-home-"));

after(() => rmSync(HOME, { recursive: true }));

/** A home with the context `prod`, and nothing else. */
function emptyHome(): string {
  rmSync(HOME, { recursive: true });
  mkdirSync(HOME);
  writeFileSync(join(HOME, "contexts.toml"), '[prod]\ntransport = "tcp"\n', { mode: 0o600 });
  return HOME;
}

/** Every command of the tree but `server`, with arguments that suit the fake and the home of `withHome`. */
const COMMANDS: readonly (readonly string[])[] = [
  ["ping"],
  ["me"],
  ["stats"],
  ["options", "topic"],
  ["stream", "create", "new"],
  ["stream", "get", "shop"],
  ["stream", "list"],
  ["stream", "update", "shop", "store"],
  ["stream", "delete", "shop"],
  ["stream", "purge", "0"],
  ["topic", "create", "shop", "new", "3", "none", "1day"],
  ["topic", "get", ...PLACE],
  ["topic", "list", "shop"],
  ["topic", "update", ...PLACE, "orders", "gzip"],
  ["topic", "delete", ...PLACE],
  ["topic", "purge", ...PLACE],
  ["partition", "create", ...PLACE, "2"],
  ["partition", "delete", ...PLACE, "1"],
  ["partition", "repair", ...PLACE, "1"],
  ["segment", "delete", ...PLACE, "0", "1"],
  ["message", "send", ...PLACE, "hello"],
  ["message", "poll", ...PLACE, "0", "--first"],
  ["message", "tail", ...PLACE, "--count", "1"],
  ["consumer-offset", "set", "billing", ...PLACE, "0", "5"],
  ["consumer-offset", "get", "billing", ...PLACE, "0"],
  ["consumer-offset", "delete", "billing", ...PLACE, "0"],
  ["user", "create", "ann", "secret", "-g", "m_str,read_users", "-s", "1:r_str#2:p_msg"],
  ["user", "get", "ann"],
  ["user", "get", "0"],
  ["user", "list"],
  ["user", "name", "ann", "anna"],
  ["user", "status", "1", "inactive"],
  ["user", "password", "ann", "old", "new"],
  ["user", "permissions", "ann"],
  ["user", "delete", "ann"],
  ["pat", "create", "ci-token", "30days"],
  ["pat", "list"],
  ["session", "status"],
  ["logout"],
  ["consumer-group", "create", ...PLACE, "writers", "-g", "7"],
  ["consumer-group", "get", ...PLACE, "readers"],
  ["consumer-group", "list", ...PLACE],
  ["consumer-group", "delete", ...PLACE, "readers"],
  ["consumer-group", "lag", ...PLACE, "readers"],
  ["client", "list"],
  ["client", "get", "7"],
  ["cluster", "metadata"],
  ["cluster", "status"],
  ["bench", "pinned-producer", "--batches", "2", "--messages-per-batch", "3"],
  ["topic", "verify", ...PLACE],
  ["message", "flush", ...PLACE, "0"],
  ["snapshot", "-o", HOME],
  ["login"],
  ["pat", "delete", "old-token"],
  ["context", "create", "new", "--tcp-server-address", "h:1"],
  ["context", "list"],
  ["context", "show", "prod"],
  ["context", "use", "prod"],
  ["context", "delete", "prod"],
];

function readyClient(): FakeClient {
  const client = new FakeClient();
  client.append(0, ["one", "two"]);
  client.storedOffset = 9_007_199_254_740_993n;
  client.tokens.push({ name: "old-token", expiresAt: undefined });
  return client;
}

/** Commands that run servers until they are stopped. */
const SERVERS = ["server", "cluster dev"];

test("the commands below are those of the tree, every one of them", () => {
  const tree = treeOf(createProgram(() => async () => {}));
  const leaves = flattened(tree).filter(({ children }) => children.length === 0);
  const places = leaves.map(({ place }) => place.replace(/^millrace /, ""));
  const covered = new Set(
    COMMANDS.map(([first = "", second = ""]) => (places.includes(first) ? first : `${first} ${second}`)),
  );
  const answering = places.filter((place) => !SERVERS.includes(place));
  assert.deepEqual([...covered].toSorted(), answering.toSorted());
});

test("every command answers in each output mode, and JSON is one document", async () => {
  for (const command of COMMANDS) {
    for (const mode of ["table", "list", "json"]) {
      const ran = await runFake([...command, "--output", mode], {
        client: readyClient().asClient(),
        home: emptyHome(),
      });
      const where = `${command.join(" ")} --output ${mode}`;
      assert.equal(ran.exitCode, 0, `${where}: ${ran.stderr}`);
      assert.equal(ran.stderr, "", where);
      assert.match(ran.stdout, /\S.*\n$/s, where);
      assert.doesNotMatch(ran.stdout, /\[object|undefined|NaN/, where);
      if (mode === "json") assert.doesNotThrow(() => JSON.parse(ran.stdout), where);
    }
  }
});

test("--output before the command is the same as behind it", async () => {
  const before = await runFake(["--output", "json", "stream", "list"], { client: readyClient().asClient() });
  const behind = await runFake(["stream", "list", "--output", "json"], { client: readyClient().asClient() });
  assert.equal(before.stdout, behind.stdout);
  assert.match(before.stdout, /"size_bytes": 9007199254740993,/);
});

test("aliases and list mode of compatible scripts work", async () => {
  const client = readyClient().asClient();
  const list = await runFake(["s", "l", "-l", "list"], { client });
  assert.equal(list.stdout, "0|2026-09-21 10:00:00.000001 UTC|shop|9007199254740993|3|1\n");
  for (const args of [
    ["t", "g", "0", "0"],
    ["c", "l"],
    ["cl", "m"],
    ["u", "l"],
    ["u", "g", "1"],
    ["pat", "l"],
    ["sess", "s"],
    ["o", "g", "1", "0", "0", "0"],
    ["m", "p", "0", "0", "0", "-f"],
  ]) {
    assert.equal((await runFake(args, { client })).exitCode, 0, args.join(" "));
  }
});

test("stats answers in TOML too", async () => {
  const { stdout } = await runFake(["stats", "-o", "toml"], { client: readyClient().asClient() });
  assert.match(stdout, /^process_id = 42\n/);
  assert.match(stdout, /total_memory = 9007199254740993\n/);
  assert.match(stdout, /\[\[cache_metrics\]\]\nstream_id = 0\n/);
});

test("quiet prints nothing on stdout", async () => {
  const ran = await runFake(["-q", "stream", "list"], { client: readyClient().asClient() });
  assert.equal(ran.stdout, "");
  assert.equal(ran.exitCode, 0);
});

test("what is executed is said on stderr, on a terminal or when asked", async () => {
  const client = readyClient().asClient();
  assert.match(
    (await runFake(["stream", "get", "shop"], { client, isTerminal: true })).stderr,
    /Executing stream get shop\n/,
  );
  assert.match(
    (await runFake(["-v", "stream", "get", "shop"], { client })).stderr,
    /Executing stream get shop\n/,
  );
  assert.equal((await runFake(["stream", "get", "shop"], { client })).stderr, "");
  const json = ["stream", "get", "shop", "--output", "json"];
  assert.equal((await runFake(json, { client, isTerminal: true })).stderr, "");
});

test("no command at all shows the overview and succeeds", async () => {
  const ran = await runFake([]);
  assert.equal(ran.exitCode, 0);
  assert.match(ran.stdout, /Usage: millrace/);
});

test("help ends with the exit codes, and the version is that of the package", async () => {
  const help = await runFake(["--help"]);
  assert.equal(help.exitCode, 0);
  assert.match(help.stdout, /Exit codes:\n {2}0 {2}done/);
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  assert.equal((await runFake(["--version"])).stdout, `${VERSION}\n`);
  assert.equal(manifest.version, VERSION);
  assert.equal((await runFake(["help", "stream"])).exitCode, 0);
  assert.match((await runFake(["message", "send", "--help"])).stdout, /--lines <file>/);
});

test("help succeeds, and a group without a command does not, whatever exit code the process has by then", async () => {
  const before = process.exitCode;
  try {
    for (const exitCode of [0, 1]) {
      process.exitCode = exitCode;
      assert.equal((await runFake(["help", "stream"])).exitCode, 0);
      assert.equal((await runFake(["stream"])).exitCode, 2);
    }
  } finally {
    process.exitCode = before;
  }
});

test("a wrong command line ends with 2 and says what was wrong", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["stram"], /"stram" is not a command/],
    [["snapshot", "-s", "everything"], /Allowed choices are filesystem_overview/],
    [["user", "create", "ann", "pwd", "-g", "root,m_str,god"], /Unknown: "root", "god"/],
    [["user", "create", "ann", "pwd", "-s", "dev:r_str"], /does not begin with the id of a stream/],
    [["user", "create", "ann", "pwd", "-s", "1#2:p_msg#2"], /topic 2 is named twice/],
    [["user", "permissions", "ann", "-s", "1", "-s", "1:r_str"], /stream 1 is named twice/],
    [["user", "status", "ann", "asleep"], /Allowed choices are active, inactive/],
    [["pat", "create", "nightly", "1day", "--store-token"], /never expires/],
    [["-u", "ann", "-t", "token", "me"], /one of -u, -t and -n/],
    [["-t", "token", "-n", "name", "me"], /one of -u, -t and -n/],
    [["stream"], /Usage: millrace stream/],
    [["stream", "get"], /missing required argument 'stream'/],
    [["stream", "get", "a", "b"], /too many arguments/],
    [["stream", "list", "--output", "xml"], /Allowed choices are table, list, json/],
    [["partition", "create", "0", "0", "1001"], /from 1 to 1000/],
    [["topic", "create", "s", "t", "1", "lz4"], /Allowed choices are none, gzip/],
    [["topic", "create", "s", "t", "1", "none", "soon"], /not a duration/],
    [
      ["topic", "create", "s", "t", "1", "none", "--durability", "persisted", "--set", "durability=x"],
      /twice/,
    ],
    [["--tcp-server-address", "nowhere", "ping"], /HOST:PORT/],
    [["--tcp-tls-enabled=maybe", "ping"], /must be true or false/],
    [["--encryption-key", "short", "ping"], /32 bytes in base64/],
    [["message", "poll", "0", "0", "0"], /--offset N, --first/],
    [["message", "poll", "0", "0", "0", "--first", "--last"], /--offset N, --first/],
    [["message", "send", "0", "0", "-p", "1", "-m", "k", "x"], /one of --partition-id/],
    [["message", "send", "0", "0", "--lines", "f", "x"], /not two of them/],
    [["message", "send", "0", "0", "-H", "k:colour:red", "x"], /is not a kind/],
    [["-p", "secret", "stream", "list"], /needs a user name/],
  ];
  for (const [args, expected] of cases) {
    const ran = await runFake(args, { client: readyClient().asClient() });
    assert.equal(ran.exitCode, 2, args.join(" "));
    assert.match(ran.stderr, expected, args.join(" "));
    assert.equal(ran.stdout, "", args.join(" "));
  }
});

test("each kind of failure has its exit code and says what to do next", async () => {
  const cases: readonly (readonly [number, string, number, RegExp])[] = [
    [
      ErrorCode.TopicIdNotFound,
      "No such topic.",
      5,
      /\(2010 TopicIdNotFound\)\n.*\n {2}next: List the topics with: millrace topic list shop\n/,
    ],
    [
      ErrorCode.CannotEstablishConnection,
      "Refused.",
      3,
      /next: Is the server running\? Start one with: millrace server/,
    ],
    [ErrorCode.InvalidCredentials, "Wrong password.", 4, /next: Check the user name and password/],
    [ErrorCode.Unauthorized, "Not allowed.", 4, /next: It takes the right manage_topic on that topic,/],
    [ErrorCode.StreamNameAlreadyExists, "Taken.", 1, /next: Choose another name/],
  ];
  for (const [code, message, exitCode, expected] of cases) {
    const connect = () => Promise.reject(new CodedError(code, message, { cause: new Error("the reason") }));
    const ran = await runFake(["topic", "delete", "shop", "orders"], { connect });
    assert.equal(ran.exitCode, exitCode, message);
    assert.match(ran.stderr, expected);
    assert.match(ran.stderr, new RegExp(`^error: ${message}`));
    assert.match(ran.stderr, /because: the reason/);
  }
});

test("with JSON output a failure is one JSON object on stderr", async () => {
  const args = ["stream", "get", "nothing", "--output", "json"];
  const ran = await runFake(args, { client: readyClient().asClient() });
  assert.equal(ran.stdout, "");
  const { error } = JSON.parse(ran.stderr);
  assert.deepEqual([error.code, error.name, error.exit_code], [1009, "StreamIdNotFound", 5]);
  const usage = await runFake(["stream", "get", "--output", "json"]);
  assert.equal(JSON.parse(usage.stderr).error.exit_code, 2);
});

test("topic get names who holds segments back, exactly, and does without where the server does not tell", async () => {
  const client = readyClient();
  const told = await runFake(["topic", "get", "shop", "orders", "--output", "json"], {
    client: client.asClient(),
  });
  assert.match(told.stdout, /"messages": 9007199254740993/);
  const { retention } = JSON.parse(told.stdout);
  assert.deepEqual(
    retention.held_by.map(({ name, owned, release }: Record<string, unknown>) => [name, owned, release]),
    [
      [null, false, "millrace consumer-offset delete 7 shop orders 0"],
      ["readers", true, "millrace consumer-offset delete 0 shop orders 0 --kind consumer-group"],
    ],
  );
  assert.deepEqual(retention.partitions[0].held_back, { segments: 1, messages: 4, size_bytes: 1_048_576 });
  const table = await runFake(["topic", "get", "shop", "orders"], { client: client.asClient() });
  assert.match(table.stdout, /consumer group "readers"[\s\S]*yes: end its member first/);
  assert.match(table.stdout, /1 \(4 messages, 1\.00 MiB\)/);
  assert.match(table.stdout, /max_topic_size +│ unlimited +│ default/);
  client.retention = undefined;
  const silent = await runFake(["topic", "get", "shop", "orders", "--output", "json"], {
    client: client.asClient(),
  });
  assert.equal(silent.exitCode, 0, silent.stderr);
  assert.equal(JSON.parse(silent.stdout).retention, null);
});

test("what does not exist is found missing at the right level", async () => {
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["stream", "get", "x"], /There is no stream "x"/],
    [["topic", "get", "x", "orders"], /There is no stream "x"/],
    [["topic", "get", "shop", "9"], /There is no topic #9 in stream "shop"/],
    [["topic", "list", "x"], /There is no stream "x"/],
    [["client", "get", "99"], /There is no client 99/],
    [["user", "get", "bob"], /There is no user "bob"[\s\S]*millrace user list/],
    [["pat", "delete", "none"], /There is no token "none"[\s\S]*millrace pat list/],
    [["message", "tail", "shop", "x"], /There is no topic "x"/],
  ];
  for (const [args, expected] of cases) {
    const ran = await runFake(args, { client: readyClient().asClient() });
    assert.equal(ran.exitCode, 5, args.join(" "));
    assert.match(ran.stderr, expected);
  }
  const none = await runFake(["o", "get", "1", "0", "0", "0"], { client: new FakeClient().asClient() });
  assert.equal(none.exitCode, 5);
  assert.match(none.stderr, /3021 ConsumerOffsetNotFound/);
});

test("every command fails in JSON as one object on stderr with a code, a sentence and what to do next", async () => {
  const connect = () => Promise.reject(new CodedError(ErrorCode.PartitionDamaged, "Bytes changed."));
  for (const command of COMMANDS) {
    const ran = await runFake([...command, "--output", "json"], {
      connect,
      openPinger: connect,
      home: emptyHome(),
    });
    if (ran.settings.length === 0 && command[0] !== "ping") continue;
    const { error } = JSON.parse(ran.stderr);
    assert.deepEqual(
      [ran.exitCode, error.code, error.exit_code],
      [6, ErrorCode.PartitionDamaged, 6],
      command.join(" "),
    );
    assert.match(error.next, /millrace topic verify/);
    assert.equal(ran.stdout, "");
  }
});

test("errors of files say which file, what is wrong with it and what to do next", async () => {
  const client = readyClient().asClient();
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [
      ["message", "send", ...PLACE, "--lines", "/nonexistent/x"],
      /error: \/nonexistent\/x does not exist\. .*\n[\s\S]* {2}next: /,
    ],
    [["message", "send", ...PLACE, "--input-file", "/"], /error: \/ is a folder\.[\s\S]* {2}next: /],
    [["message", "send", ...PLACE, "--lines", "/"], /error: \/ is a folder\.[\s\S]* {2}next: /],
    [
      ["message", "poll", ...PLACE, "0", "--first", "--output-file", "/nonexistent/x"],
      /does not exist[\s\S]* {2}next: /,
    ],
    [["-d", "/nonexistent/x", "stream", "list"], /does not exist[\s\S]* {2}next: /],
    [
      ["topic", "verify", "--data-dir", "/nonexistent"],
      /holds no data of a Millrace server[\s\S]* {2}next: /,
    ],
  ];
  for (const [args, expected] of cases) {
    const ran = await runFake(args, { client });
    assert.equal(ran.exitCode, 1, args.join(" "));
    assert.match(ran.stderr, expected, args.join(" "));
  }
});

test("a refused --set says which options were typed", async () => {
  const connect = () => Promise.reject(new CodedError(ErrorCode.UnsupportedOptionKey));
  const args = ["topic", "create", "shop", "t", "1", "none", "--set", "colour=red"];
  assert.match((await runFake(args, { connect })).stderr, /next: .*--set gave: colour=red\. /);
});

test("no help of any command shows an empty default", async () => {
  for (const command of COMMANDS) {
    const help = await runFake([...command.slice(0, 2).filter((word) => /^[a-z-]+$/.test(word)), "--help"]);
    assert.doesNotMatch(help.stdout, /\[\]\)|undefined/, command.join(" "));
  }
});

test("a verification shows damage by file and position and ends with 6", async () => {
  const client = readyClient();
  client.damagesOf[1] = {
    damages: [{ kind: "batch", path: "streams/0/topics/0/partitions/1-3/0.log", position: 300, offset: 7 }],
    fault: "Bytes in the middle.",
  };
  const args = ["topic", "verify", ...PLACE, "--output", "json"];
  const ran = await runFake(args, { client: client.asClient() });
  assert.equal(ran.exitCode, 6);
  const answer = JSON.parse(ran.stdout);
  assert.deepEqual([answer.damages_count, answer.messages, answer.partitions.length], [1, 16, 2]);
  assert.deepEqual(answer.damages, [
    { path: "streams/0/topics/0/partitions/1-3/0.log", position: 300, kind: "batch", offset: 7 },
  ]);
  assert.equal(answer.partitions[1].fault, "Bytes in the middle.");
  const steps = client.calls.filter(([name]) => name === "verifyPartition");
  assert.deepEqual(
    steps.map(([, partition, from]) => [partition, from === undefined]),
    [
      [0, true],
      [0, false],
      [1, true],
      [1, false],
    ],
  );
  assert.equal(
    (await runFake(["topic", "verify", ...PLACE, "-p", "0"], { client: client.asClient() })).exitCode,
    0,
  );
  assert.equal((await runFake(["topic", "verify", "shop"], { client: client.asClient() })).exitCode, 2);
});

test("the session is closed after success and after failure", async () => {
  const client = readyClient();
  await runFake(["stream", "list"], { client: client.asClient() });
  await runFake(["stream", "get", "x"], { client: client.asClient() });
  assert.equal(client.closedCount, 2);
});

test("a topic is created with exactly the options that were typed", async () => {
  const client = readyClient();
  const options = ["-m", "15GB", "--durability", "persisted", "--set", "segment_size=128MiB"];
  const args = ["topic", "create", "shop", "t", "2", "gzip", "1h", "30min", ...options];
  await runFake(args, { client: client.asClient() });
  assert.deepEqual(client.calls.at(-1), [
    "createTopic",
    "shop",
    {
      name: "t",
      partitionsCount: 2,
      compression: "gzip",
      messageExpiry: 5_400_000_000n,
      maxTopicSize: 15_000_000_000n,
      durability: "persisted",
      options: { segment_size: "128MiB" },
    },
  ]);
  await runFake(["topic", "update", "shop", "0", "t", "none"], { client: client.asClient() });
  assert.deepEqual(client.calls.at(-1), [
    "updateTopic",
    "shop",
    0,
    { name: "t", compression: "none", options: {} },
  ]);
});

test("what follows server belongs to the server, and needs no credentials", async () => {
  const ran = await runFake(["server", "--help", "--data", "x"], { environment: {} });
  assert.deepEqual(ran.serverArguments, [["--help", "--data", "x"]]);
  assert.equal(ran.exitCode, 0);
});
