import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MillraceClient } from "@millrace/client";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runFake } from "./fakes/fake-world.ts";
import { type ServerUnderTest, startServer } from "./fakes/server-under-test.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-retention-"));
const environment = {
  MILLRACE_DATA_MAINTENANCE_MESSAGES_INTERVAL: "50 ms",
  MILLRACE_MESSAGE_BUS_MAX_MESSAGE_SIZE: "1 MiB",
  MILLRACE_HTTP_ENABLED: "true",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
};
/** Two of these fill a segment of 1 MiB. */
const HALF_SEGMENT = new Uint8Array(600_000);
const WAIT_MS = 20_000;

let server: ServerUnderTest;
let client: MillraceClient;

async function start(): Promise<void> {
  server = await startServer({ environment, folder });
  client = await MillraceClient.connect(`iggy://iggy:iggy@${server.address}`);
}

async function stop(): Promise<void> {
  await client.close();
  assert.equal(await server.stop(), 0);
}

/** Ends the server itself, not the command that started it, as a crash would. */
async function crash(): Promise<void> {
  const { processId } = await client.getStats();
  await client.close();
  process.kill(processId, "SIGKILL");
  await new Promise((resolve) => server.child.once("exit", resolve));
}

before(start);
after(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...args: string[]) {
  const ran = await runFake(["--tcp-server-address", server.address, ...args], { connect, openPinger });
  assert.equal(ran.exitCode, 0, `${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

async function json(...args: string[]) {
  return JSON.parse(await run(...args, "--output", "json"));
}

/** A stream and topic of one partition with segments of 1 MiB. */
async function newTopic(name: string, ...options: string[]): Promise<void> {
  await json("stream", "create", name);
  await json("topic", "create", name, "t", "1", "none", ...options, "--set", "segment_size=1MiB");
}

/** Sends messages of half a segment each; answers the offset of the last one. */
async function send(stream: string, count: number, payload = HALF_SEGMENT): Promise<bigint | undefined> {
  let last: bigint | undefined;
  for (let index = 0; index < count; index++) {
    const request = { stream, topic: "t", partitioning: { partition: 0 }, messages: [{ payload }] };
    last = (await client.sendMessages(request))[0]?.baseOffset;
  }
  return last;
}

async function retentionOf(stream: string) {
  const topic = await json("topic", "get", stream, "t");
  return { ...topic.retention.partitions[0], heldBy: topic.retention.held_by };
}

type Retention = Awaited<ReturnType<typeof retentionOf>>;

/** Asks until it is so; `what` is what the test waits for. */
async function untilRetention(stream: string, what: string, isSo: (seen: Retention) => boolean) {
  const end = Date.now() + WAIT_MS;
  for (let seen = await retentionOf(stream); ; seen = await retentionOf(stream)) {
    if (isSo(seen)) return seen;
    assert.ok(Date.now() < end, `${what}; seen was ${JSON.stringify(seen)}`);
  }
}

function untilFirstOffset(stream: string, offset: number) {
  return untilRetention(stream, `the first offset becomes ${offset}`, (seen) => seen.first_offset === offset);
}

test("topic get shows what is held back, by whom, and the command that releases it works as it stands", async () => {
  await newTopic("held back");
  await send("held back", 6);
  await send("held back", 1, new Uint8Array(1));
  await json("consumer-offset", "set", "7", "held back", "t", "0", "1");
  await json("consumer-group", "create", "held back", "t", "readers");
  const member = client.consumerGroup({ stream: "held back", topic: "t", group: "readers" });
  for await (const message of member) {
    await member.commit(message);
    break;
  }
  await json("consumer-offset", "set", "8", "held back", "t", "0", "6");
  await member.close();
  // Nothing expires before everything is held that is to be held, however slow the machine is.
  await json("topic", "update", "held back", "t", "t", "none", "1s");
  const both = await untilRetention("held back", "6 messages expire", (seen) => seen.expired.messages === 6);
  assert.deepEqual(
    both.heldBy.map(({ kind, id, name, owned, release }: Record<string, unknown>) => [
      kind,
      id,
      name,
      owned,
      release,
    ]),
    [
      [
        "consumer-group",
        0,
        "readers",
        false,
        "millrace consumer-offset delete 0 'held back' t 0 --kind consumer-group",
      ],
      ["consumer", 7, null, false, "millrace consumer-offset delete 7 'held back' t 0"],
    ],
  );
  await run(...wordsOf(both.heldBy[0].release));
  const one = await untilFirstOffset("held back", 2);
  assert.deepEqual(
    [one.sealed.segments, one.expired.messages, one.held_back.segments, one.removable.segments],
    [2, 4, 2, 0],
  );
  const table = await run("topic", "get", "held back", "t");
  assert.match(table, /Held by[\s\S]*consumer 7[\s\S]*millrace consumer-offset delete 7 'held back' t 0/);
  await run(...wordsOf(one.heldBy[0].release));
  const none = await untilFirstOffset("held back", 6);
  assert.deepEqual([none.heldBy, none.held_back.segments], [[], 0]);
  assert.match(await run("topic", "get", "held back", "t"), /No stored offset keeps a segment\./);
});

/** The words of a command line behind `millrace`, as a shell splits them. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1);
}

test("a changed size counts for a live topic, and the budget that cannot be less is told", async () => {
  await newTopic("sized");
  await send("sized", 9);
  assert.equal((await retentionOf("sized")).first_offset, 0);
  await json("topic", "update", "sized", "t", "t", "none", "-m", "1MiB");
  const { retention } = await json("topic", "get", "sized", "t");
  assert.deepEqual([retention.partition_budget, retention.budget_raised], [2_097_152, true]);
  assert.match(await run("topic", "get", "sized", "t"), /2097152 \(raised:/);
  const seen = await untilFirstOffset("sized", 6);
  assert.ok(seen.sealed.size_bytes <= 2_097_152);
});

/** What every way to ask says of a topic, and what a reader finds. */
async function countersOf(stream: string) {
  const cli = await json("topic", "get", stream, "t");
  const sdk = await client.getTopic(stream, "t");
  const http = await httpTopic(stream);
  const [cliPartition] = cli.partitions;
  const [sdkPartition] = sdk?.partitions ?? [];
  const [httpPartition] = http.partitions;
  const asked = [
    [cli.messages_count, cli.size_bytes, cliPartition.messages_count, cliPartition.segments_count],
    [sdk?.messagesCount, sdk?.size, sdkPartition?.messagesCount, sdkPartition?.segmentsCount],
    [
      http.messages_count,
      Number.parseInt(http.size, 10),
      httpPartition.messages_count,
      httpPartition.segments_count,
    ],
  ].map((counts) => counts.map(Number));
  assert.deepEqual(asked[1], asked[0], "the SDK says what the command says");
  assert.deepEqual(asked[2], asked[0], "HTTP says what the command says");
  const offsets = [
    cliPartition.current_offset ?? 0,
    sdkPartition?.currentOffset,
    httpPartition.current_offset,
  ];
  assert.equal(new Set(offsets.map(Number)).size, 1, "and all know the same last offset");
  const found = await readAll(stream);
  assert.equal(found.length, asked[0]?.[0], "and it is the truth");
  return { counts: asked[0], first: Number(found[0] ?? -1), last: Number(offsets[0]) };
}

/** The offset of every message that can be read. */
async function readAll(stream: string): Promise<bigint[]> {
  const found: bigint[] = [];
  for (let offset = 0n; ; offset = (found.at(-1) ?? 0n) + 1n) {
    const place = { stream, topic: "t", partitionId: 0, consumer: 1, count: 1000 };
    const { messages } = await client.pollMessages({ ...place, startAt: { offset } });
    if (messages.length === 0) return found;
    found.push(...messages.map((message) => message.offset));
  }
}

async function httpTopic(stream: string) {
  const base = `http://${server.httpAddress}`;
  const login = await fetch(`${base}/users/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "iggy", password: "iggy" }),
  });
  const { access_token: access } = (await login.json()) as { access_token: { token: string } };
  const answer = await fetch(`${base}/streams/${stream}/topics/t`, {
    headers: { authorization: `Bearer ${access.token}` },
  });
  assert.equal(answer.status, 200);
  return JSON.parse(await answer.text());
}

test("counters are the truth on the command line, HTTP and the SDK after deletions and purges, also after a restart", async () => {
  const payload = new Uint8Array(30_000);
  for (const stream of ["first", "second"]) {
    await newTopic(stream);
    await send(stream, 100, payload);
  }
  await json("segment", "delete", "first", "t", "0", "1");
  const deleted = await countersOf("first");
  assert.ok(deleted.first > 0 && deleted.last === 99);
  assert.equal(deleted.counts?.[0], 100 - deleted.first);
  const untouched = await countersOf("second");
  assert.deepEqual([untouched.counts?.[0], untouched.first, untouched.last], [100, 0, 99]);
  await stop();
  await start();
  assert.deepEqual(await countersOf("first"), deleted);
  assert.deepEqual(await countersOf("second"), untouched);
  await json("topic", "purge", "first", "t");
  const purged = await countersOf("first");
  assert.deepEqual([purged.counts, purged.first], [[0, 0, 0, 1], -1]);
  assert.deepEqual(await countersOf("second"), untouched, "the other topic keeps its own");
  await stop();
  await start();
  assert.deepEqual(await countersOf("first"), purged);
  assert.deepEqual(await countersOf("second"), untouched);
});

const EMPTYING = {
  "segment delete": async (stream: string) => void (await json("segment", "delete", stream, "t", "0", "100")),
  expiry: async (stream: string) => {
    await json("topic", "update", stream, "t", "t", "none", "1s");
    await untilFirstOffset(stream, 10);
  },
  purge: async (stream: string) => void (await json("topic", "purge", stream, "t")),
} as const;

for (const [how, empty] of Object.entries(EMPTYING)) {
  test(`after a ${how}, a crash and a start, offsets go on where they should and hide nothing`, async () => {
    const stream = `emptied-by-${how.replace(" ", "-")}`;
    await newTopic(stream);
    await send(stream, 10);
    // The op of an offset seals the full segment, so all ten messages can go.
    await json("consumer-offset", "set", "1", stream, "t", "0", "9");
    await empty(stream);
    await crash();
    await start();
    const isPurged = how === "purge";
    assert.equal((await retentionOf(stream)).first_offset, isPurged ? 0 : 10);
    const place = { stream, topic: "t", consumer: 1, partitionId: 0 };
    const stored = await client.getConsumerOffset(place);
    assert.equal(stored?.storedOffset, isPurged ? undefined : 9n);
    assert.equal(await send(stream, 1), isPurged ? 0n : 10n);
    const { messages } = await client.pollMessages({ ...place, startAt: "next", count: 10 });
    assert.deepEqual(
      messages.map(({ offset }) => offset),
      [isPurged ? 0n : 10n],
    );
  });
}

test("empty and foreign segment files neither keep the server from starting nor its limit from being held", async () => {
  await newTopic("limited");
  await send("limited", 6);
  await json("consumer-offset", "set", "1", "limited", "t", "0", "0");
  const { id } = await json("stream", "get", "limited");
  await stop();
  const partitions = join(folder, "streams", String(id), "topics", "0", "partitions");
  const [partition = ""] = readdirSync(partitions);
  const path = (name: string) => join(partitions, partition, name);
  truncateSync(path("00000000000000000002.log"), 0);
  for (const name of ["00000000000000000003.log", "00000000000000900000.log"]) writeFileSync(path(name), "");
  await start();
  assert.equal((await retentionOf("limited")).first_offset, 0);
  await json("consumer-offset", "delete", "1", "limited", "t", "0");
  await json("topic", "update", "limited", "t", "t", "none", "-m", "2MiB");
  assert.equal(await send("limited", 7), 12n);
  const seen = await untilFirstOffset("limited", 10);
  assert.ok(seen.sealed.size_bytes <= 2_097_152);
});
