import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encryptedClient } from "../../connection/encrypted-client.ts";
import { PayloadCipher } from "../../connection/payload-cipher.ts";
import { FakeClient } from "../../fakes/fake-client.ts";
import { runFake } from "../../fakes/fake-world.ts";

const PLACE = ["shop", "orders"];
const SEND = ["message", "send", ...PLACE];
const TAIL = ["message", "tail", ...PLACE];

function payloadsOf(client: FakeClient): string[] {
  return (client.topic.partitions[0]?.partition ?? []).map(({ payload }) => Buffer.from(payload).toString());
}

function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-cli-"));
  return use(folder).finally(() => rmSync(folder, { recursive: true }));
}

test("each argument is a message", async () => {
  const client = new FakeClient();
  const ran = await runFake([...SEND, "one", "two words", "--output", "json"], { client: client.asClient() });
  assert.deepEqual(payloadsOf(client), ["one", "two words"]);
  const answer = JSON.parse(ran.stdout);
  assert.equal(answer.messages, 2);
  assert.equal(answer.bytes, 12);
  assert.deepEqual(answer.partitions, [{ partition_id: 0, messages: 2, first_offset: 0, last_offset: 1 }]);
});

test("each line of standard input is a message, and empty lines are counted but not sent", async () => {
  const client = new FakeClient();
  const ran = await runFake(SEND, { client: client.asClient(), stdin: "one\n\ntwo\r\nthree" });
  assert.deepEqual(payloadsOf(client), ["one", "two", "three"]);
  assert.match(ran.stdout, /^3 messages .*; 1 empty lines skipped\.\n$/);
});

test("partition, key and nothing choose the partitioning", async () => {
  const client = new FakeClient();
  const cases = [
    [[], "balanced"],
    [["-p", "3"], { partition: 3 }],
    [["-m", "k"], { key: "k" }],
  ] as const;
  for (const [args, partitioning] of cases) {
    await runFake([...SEND, ...args, "x"], { client: client.asClient() });
    const call = client.calls.find(([name]) => name === "producer");
    assert.deepEqual(call?.[1], { stream: "shop", topic: "orders", partitioning });
    client.calls.length = 0;
  }
});

test("headers go with every message and come back typed", async () => {
  const client = new FakeClient();
  const headers = [
    "-H",
    "big:uint128:340282366920938463463374607431768211455,ok:bool:true",
    "-H",
    "who:string:a:b",
  ];
  await runFake([...SEND, ...headers, "one", "two"], { client: client.asClient() });
  const poll = ["message", "poll", ...PLACE, "0", "--offset", "0", "-m", "5", "-s"];
  const json = JSON.parse(
    (await runFake([...poll, "--output", "json"], { client: client.asClient() })).stdout,
  );
  assert.equal(json.length, 2);
  assert.deepEqual(
    json[1].headers.map((header: { kind: string }) => header.kind),
    ["uint128", "bool", "string"],
  );
  const list = await runFake([...poll, "--output", "list"], { client: client.asClient() });
  assert.match(list.stdout, /\|one\|340282366920938463463374607431768211455\|true\|a:b\n/);
  const table = await runFake(poll, { client: client.asClient() });
  assert.match(table.stdout, /Header: big \/ uint128/);
});

test("a file of lines is sent whole, with a plain last line of progress away from a terminal", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "lines.txt");
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${"x".repeat(index % 50)}`);
    writeFileSync(file, `${lines.join("\n")}\n`);
    const client = new FakeClient();
    const ran = await runFake([...SEND, "--lines", file], { client: client.asClient() });
    assert.equal(ran.exitCode, 0, ran.stderr);
    assert.deepEqual(payloadsOf(client), lines);
    assert.match(ran.stderr, /100 %, 20,000 messages, .* messages\/s\n$/);
    assert.ok(!ran.stderr.includes("\r"));
    const bar = await runFake([...SEND, "--lines", file], { client: client.asClient(), isTerminal: true });
    assert.match(bar.stderr, /\r\[#{30}\] 100 %/);
    const quiet = await runFake(["-q", ...SEND, "--lines", file], { client: client.asClient() });
    assert.equal(quiet.stdout + quiet.stderr, "");
  });
});

test("a file that is not there is named, and nothing is sent", async () => {
  const client = new FakeClient();
  for (const option of ["--lines", "--input-file"]) {
    const ran = await runFake([...SEND, option, "/nowhere/file"], { client: client.asClient() });
    assert.equal(ran.exitCode, 1);
    assert.match(ran.stderr, /\/nowhere\/file.*\(10002 CannotReadFile\)/);
  }
  assert.deepEqual(payloadsOf(client), []);
});

test("polled messages go to a file and from there to a topic with ids and headers", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "messages.bin");
    const source = new FakeClient();
    await runFake([...SEND, "-H", "n:int64:-5", "one", "two"], { client: source.asClient() });
    const poll = ["message", "poll", ...PLACE, "0", "--first", "-m", "9", "--output-file", file];
    assert.equal(
      (await runFake(poll, { client: source.asClient() })).stdout,
      `2 messages appended to ${file}.\n`,
    );
    assert.equal(readFileSync(file).length, 2 * (64 + 3 + (5 + 1) + (5 + 8)));
    const target = new FakeClient();
    const ran = await runFake([...SEND, "--input-file", file], { client: target.asClient() });
    assert.equal(ran.exitCode, 0, ran.stderr);
    assert.deepEqual(payloadsOf(target), ["one", "two"]);
    const stored = (client: FakeClient) =>
      client.topic.partitions[0]?.partition.map(({ id, userHeaders }) => ({ id, userHeaders }));
    assert.deepEqual(stored(target), stored(source));
  });
});

test("the first error ends the reading of the source", async () => {
  const client = new FakeClient();
  let pulled = 0;
  async function* endless() {
    for (;;) {
      pulled += 1;
      yield Buffer.from("line\n");
    }
  }
  // As a real producer does, which never leaves a promise that nobody awaits unhandled.
  const refuse = () => {
    const refused = Promise.reject(new CodedError(ErrorCode.ResourceNotFound, "There is no such topic."));
    refused.catch(() => {});
    return refused;
  };
  client.producer = () => ({ send: refuse, close: async () => {} });
  const ran = await runFake(SEND, { client: client.asClient(), stdin: Readable.from(endless()) });
  assert.equal(ran.exitCode, 5);
  assert.match(ran.stderr, /next: Show the topic's partitions with: millrace topic get shop orders/);
  assert.ok(pulled < 100, `${pulled} lines were read`);
});

test("an error in the middle of a send says how many messages were written", async () => {
  const client = new FakeClient();
  let sends = 0;
  const send = async () => {
    sends += 1;
    if (sends > 1) throw new CodedError(ErrorCode.DiskFull, "The disk is full.");
    return { partitionId: 0, offset: 0n, count: 2, ranges: [] };
  };
  client.producer = () => ({ send, close: async () => {} });
  const stdin = Readable.from([Buffer.from("one\ntwo\n"), Buffer.from("three\n")]);
  const ran = await runFake(SEND, { client: client.asClient(), stdin });
  assert.equal(ran.exitCode, 1);
  assert.match(
    ran.stderr,
    /^error: The disk is full\. Before that, 2 messages were written\. \(20001 DiskFull\)\n/,
  );
});

test("each way to start a poll reaches the server as it was typed", async () => {
  const cases = [
    [["-o", "18446744073709551615"], { offset: 18_446_744_073_709_551_615n }],
    [["-f"], "first"],
    [["-l"], "last"],
    [["-n"], "next"],
    [["--timestamp", "2026-09-21T10:00:00Z"], { timestamp: 1_789_984_800_000_000n }],
  ] as const;
  for (const [args, startAt] of cases) {
    const client = new FakeClient();
    await runFake(["m", "p", ...PLACE, "1", ...args, "-m", "7", "-a", "-c", "9"], {
      client: client.asClient(),
    });
    const expected = { stream: "shop", topic: "orders", partitionId: 1, consumer: 9, startAt, count: 7 };
    assert.deepEqual(client.calls.at(-1), ["pollMessages", { ...expected, autoCommit: true }]);
  }
});

test("a poll ends with count, size and time for people and stays one document for programs", async () => {
  const client = new FakeClient();
  client.append(0, ["first", "second"]);
  const poll = ["message", "poll", ...PLACE, "0", "--first", "-m", "5"];
  const table = await runFake(poll, { client: client.asClient() });
  assert.match(table.stdout, /\n2 messages, 11 B, \d+\.\d\d ms\n$/);
  const [first] = JSON.parse(
    (await runFake([...poll, "--output", "json"], { client: client.asClient() })).stdout,
  );
  assert.equal(first.payload, "first");
  assert.equal(first.payload_encoding, "utf-8");
});

test("a message whose headers cannot be read hides neither itself nor others", async () => {
  const client = new FakeClient();
  client.append(0, ["good", "odd"]);
  const odd = client.topic.partitions[0]?.partition[1];
  assert.ok(odd !== undefined);
  Object.assign(odd, { userHeaders: new Uint8Array([7, 7]) });
  Object.defineProperty(odd, "headerFields", {
    get() {
      throw new CodedError(ErrorCode.CannotReadHeadersPayload);
    },
  });
  const poll = ["message", "poll", ...PLACE, "0", "--first", "-m", "2"];
  const json = await runFake([...poll, "--output", "json"], { client: client.asClient() });
  assert.deepEqual(
    JSON.parse(json.stdout).map((message: { payload: string; headers: unknown }) => message.headers),
    [[], [{ key: null, key_kind: "unreadable", value: "Bwc=", kind: "base64" }]],
  );
  const table = await runFake([...poll, "-s"], { client: client.asClient() });
  assert.match(table.stdout, /Header: unreadable \/ base64/);
  assert.match(table.stdout, /good/);
});

test("tail shows the last messages over all partitions in the order of time", async () => {
  const client = new FakeClient();
  client.append(0, ["a0", "a1", "a2"]);
  client.append(1, ["b0", "b1", "b2"]);
  const ran = await runFake([...TAIL, "-n", "3", "--count", "3", "--output", "list"], {
    client: client.asClient(),
  });
  assert.deepEqual(
    ran.stdout
      .trim()
      .split("\n")
      .map((line) => line.split("|").at(-1)),
    ["b1", "a2", "b2"],
  );
});

async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, `not so after 10 s: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Waits until a tail that follows has asked each partition so many times more, and shown what it got. */
async function rounds(client: FakeClient, count: number): Promise<void> {
  const asked = (id: number) =>
    client.calls.filter(([name, poll]) => name === "pollMessages" && (poll as Poll).partitionId === id)
      .length;
  const followed = client.topic.partitions.map((_, id) => id).filter((id) => id === 0 || asked(id) > 0);
  const before = followed.map(asked);
  // The answer to the last poll is shown before the next one is asked for.
  await until(() => followed.every((id, at) => asked(id) > (before[at] ?? 0) + count));
}

interface Poll {
  readonly partitionId?: number;
}

test("tail follows until Ctrl-C and then succeeds", async () => {
  const client = new FakeClient();
  client.append(0, ["old"]);
  let press = () => {};
  const running = runFake([...TAIL, "-n", "0", "--output", "json"], {
    client: client.asClient(),
    onListen: (given) => {
      press = given;
    },
  });
  await rounds(client, 2);
  client.append(0, ["new one"]);
  client.append(1, ["new two"]);
  await rounds(client, 2);
  press();
  const ran = await running;
  assert.equal(ran.exitCode, 0);
  const payloads = ran.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).payload);
  assert.deepEqual(payloads, ["new one", "new two"]);
  assert.equal(client.closedCount, 1);
});

test("tail goes on with what follows a purge", async () => {
  const client = new FakeClient();
  client.append(0, ["a", "b", "c"]);
  const running = runFake([...TAIL, "0", "-n", "1", "--count", "3", "--output", "list"], {
    client: client.asClient(),
  });
  await rounds(client, 2);
  client.topic.partitions[0]?.partition.splice(0);
  await rounds(client, 2);
  client.append(0, ["new a", "new b"]);
  const lines = (await running).stdout.trim().split("\n");
  assert.deepEqual(
    lines.map((line) => line.split("|").at(-1)),
    ["c", "new a", "new b"],
  );
});

test("Ctrl-C ends a tail even while the server does not answer", async () => {
  const client = new FakeClient();
  let isAsked = false;
  client.pollMessages = () => {
    isAsked = true;
    return new Promise(() => {});
  };
  let press = () => {};
  const onListen = (given: () => void) => {
    press = given;
  };
  const running = runFake([...TAIL, "--first"], { client: client.asClient(), onListen });
  await until(() => isAsked);
  press();
  assert.equal((await running).exitCode, 0);
});

test("tail of one partition from the first message ends after the count", async () => {
  const client = new FakeClient();
  client.append(0, ["other"]);
  client.append(1, ["b0", "b1", "b2"]);
  const ran = await runFake([...TAIL, "1", "--first", "--count", "2"], { client: client.asClient() });
  assert.equal(ran.exitCode, 0);
  const lines = ran.stdout.trimEnd().split("\n");
  assert.match(lines[0] ?? "", /^Partition {2}Offset/);
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(/\s+/).at(-1)),
    ["b0", "b1"],
  );
});

test("tail shows only messages that meet every filter, and counts those", async () => {
  const client = new FakeClient();
  client.append(0, ['{"city":"Berlin","n":1}', '{"city":"Paris","n":2}', "not JSON"]);
  client.append(1, ['{"city":"Berlin","n":3}', '{"city":"Berlin","n":4}']);
  const filters = ["--filter", ".city=Berlin", "--filter", "/[34]/"];
  const ran = await runFake([...TAIL, "--first", "--count", "2", ...filters, "--output", "json"], {
    client: client.asClient(),
  });
  const shown = ran.stdout.trim().split("\n");
  assert.deepEqual(
    shown.map((line) => JSON.parse(JSON.parse(line).payload).n),
    [3, 4],
  );
  assert.equal((await runFake([...TAIL, "--filter", "colour"], { client: client.asClient() })).exitCode, 2);
});

test("tail as a member of a group commits what it showed, up to the last message, and leaves", async () => {
  const client = new FakeClient();
  client.append(0, ["a", "b", "c"]);
  const group = [...TAIL, "--group", "readers"];
  const ran = await runFake([...group, "--count", "2", "--output", "list"], { client: client.asClient() });
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.deepEqual(ran.stdout.trim().split("\n").length, 2);
  assert.deepEqual(client.calls.slice(-2), [
    ["consumerGroup", { stream: "shop", topic: "orders", group: "readers" }],
    ["commit", 1n],
  ]);
  for (const more of [["0"], ["--first"], ["-n", "3"]]) {
    const wrong = await runFake([...group, ...more], { client: client.asClient() });
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /the group says where to read/);
  }
});

test("Ctrl-C ends a tail of a group and closes its member", async () => {
  const client = new FakeClient();
  let press = () => {};
  const onListen = (given: () => void) => {
    press = given;
  };
  const running = runFake([...TAIL, "--group", "readers"], { client: client.asClient(), onListen });
  await until(() => client.calls.some(([name]) => name === "consumerGroup"));
  press();
  assert.equal((await running).exitCode, 0);
  assert.deepEqual(client.calls.at(-1), ["closeGroup"]);
});

test("Ctrl-C ends a tail of a group that is not connected yet", async () => {
  const client = new FakeClient();
  let press = () => {};
  const running = runFake([...TAIL, "--group", "readers"], {
    onListen: (given) => {
      press = given;
    },
    connect: async () => {
      press();
      return client.asClient();
    },
  });
  assert.equal((await running).exitCode, 0);
  assert.ok(client.calls.some(([name]) => name === "closeGroup"));
});

test("a flush is asked for as typed", async () => {
  const client = new FakeClient();
  assert.equal(
    (await runFake(["m", "f", "shop", "0", "1", "-f"], { client: client.asClient() })).exitCode,
    0,
  );
  const flush = { stream: "shop", topic: 0, partitionId: 1, fsync: true };
  assert.deepEqual(client.calls.at(-1), ["flushUnsavedBuffer", flush]);
});

test("payloads are encrypted with the key and come back as they were", async () => {
  const client = new FakeClient();
  const cipher = new PayloadCipher(new Uint8Array(32).fill(7));
  const settings = { client: encryptedClient(client.asClient(), cipher) };
  await runFake([...SEND, "secret"], settings);
  assert.notEqual(payloadsOf(client)[0], "secret");
  assert.equal(client.topic.partitions[0]?.partition[0]?.payload.length, "secret".length + 28);
  for (const command of [
    ["message", "poll", ...PLACE, "0", "--first"],
    [...TAIL, "--group", "g", "--count", "1"],
  ]) {
    const ran = await runFake([...command, "--output", "list"], settings);
    assert.match(ran.stdout, /\|secret\n/, ran.stderr);
  }
  const other = encryptedClient(client.asClient(), new PayloadCipher(new Uint8Array(32)));
  const refused = await runFake(["message", "poll", ...PLACE, "0", "--first"], { client: other });
  assert.equal(refused.exitCode, 1);
  assert.match(refused.stderr, /72 CannotDecryptData/);
});

test("a snapshot is written to a new file that only its owner may read", async () => {
  await withFolder(async (folder) => {
    const client = new FakeClient();
    const args = [
      "snapshot",
      "-c",
      "stored",
      "-s",
      "process_list",
      "server_logs",
      "-o",
      folder,
      "--output",
      "json",
    ];
    const { file, size_bytes: length } = JSON.parse(
      (await runFake(args, { client: client.asClient() })).stdout,
    );
    assert.deepEqual([readFileSync(file), length], [Buffer.from(client.snapshot), 2]);
    const asked = { compression: "stored", types: ["processList", "serverLogs"] };
    assert.deepEqual(client.calls, [["getSnapshot", asked]]);
    const nowhere = await runFake(["snapshot", "-o", join(folder, "none")], { client: client.asClient() });
    assert.match(nowhere.stderr, /next: /);
  });
});

test("a send to a stream or topic that is not there says how to make it", async () => {
  const client = new FakeClient();
  client.producer = () => ({
    send: () => Promise.reject(new CodedError(ErrorCode.ResourceNotFound, "The server answered 20.")),
    close: async () => {},
  });
  const to = (...place: string[]) =>
    runFake(["message", "send", ...place, "x"], { client: client.asClient() });
  const stream = await to("depot", "orders");
  assert.equal(stream.exitCode, 5);
  assert.match(stream.stderr, /no stream "depot"[\s\S]*Create it with: millrace stream create depot\n/);
  assert.match((await to("shop", "new one")).stderr, /millrace topic create shop 'new one' 1 none\n/);
});
