import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { connect } from "../connection/connect.ts";
import { openPinger } from "../connection/pinger.ts";
import { runFake } from "../fakes/fake-world.ts";
import { type ServerUnderTest, startServer } from "../fakes/server-under-test.ts";
import { SCENARIO_NAMES, type ScenarioName } from "./scenarios.table.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-bench-cli-"));
let server: ServerUnderTest;

before(async () => {
  const environment = { MILLRACE_WEBSOCKET_ENABLED: "true", MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0" };
  server = await startServer({ environment });
});

after(async () => {
  assert.equal(await server?.stop(), 0);
  rmSync(folder, { recursive: true });
});

interface Figures {
  readonly what: string;
  readonly actor: string;
  readonly messages: number;
  readonly bytes: number;
  readonly latencies: number;
  readonly [latency: string]: number | string;
}

function run(args: readonly string[], more: Partial<Parameters<typeof runFake>[1]> = {}) {
  const all = ["--tcp-server-address", server.address, ...args, "--output", "json"];
  return runFake(all, { connect, openPinger, ...more });
}

async function json(...args: string[]) {
  const ran = await run(args);
  assert.equal(ran.exitCode, 0, ran.stderr);
  return JSON.parse(ran.stdout);
}

const SMALL = ["--message-size", "64", "--messages-per-batch", "20", "--batches", "6", "--warm-up", "2"];
/** Two actors, six batches of twenty messages that count. */
const COUNTED = 2 * 6 * 20;

/** What each scenario has to count with two actors of each kind and two partitions. */
const CASES: Record<
  ScenarioName,
  { options: string[]; roles: Record<string, { messages: number; latencies?: number }> }
> = {
  "pinned-producer": { options: ["--producers", "2"], roles: { send: { messages: COUNTED, latencies: 12 } } },
  "pinned-consumer": { options: ["--consumers", "2"], roles: { poll: { messages: COUNTED, latencies: 12 } } },
  "pinned-producer-and-consumer": {
    options: ["--producers", "2", "--consumers", "2"],
    roles: { send: { messages: COUNTED, latencies: 12 }, poll: { messages: COUNTED } },
  },
  "balanced-producer": {
    options: ["--producers", "2"],
    roles: { send: { messages: COUNTED, latencies: 12 } },
  },
  "balanced-consumer-group": { options: ["--consumers", "2"], roles: { block: { messages: COUNTED } } },
  "balanced-producer-and-consumer-group": {
    options: ["--producers", "2", "--consumers", "4", "--groups", "2"],
    roles: {
      send: { messages: COUNTED, latencies: 12 },
      "end-to-end": { messages: 2 * COUNTED, latencies: 2 * COUNTED },
    },
  },
  "end-to-end-producing-consumer": {
    options: ["--producers", "2"],
    roles: { send: { messages: COUNTED, latencies: 12 }, "end-to-end": { messages: COUNTED, latencies: 12 } },
  },
  "end-to-end-producing-consumer-group": {
    options: ["--producers", "2"],
    roles: {
      send: { messages: COUNTED, latencies: 12 },
      "end-to-end": { messages: COUNTED, latencies: COUNTED },
    },
  },
};

for (const scenario of SCENARIO_NAMES) {
  test(`${scenario} sends and reads exactly what it says, and leaves nothing behind`, async () => {
    await json("stream", "create", `mine-${scenario}`);
    const { options, roles } = CASES[scenario];
    const shown = await json("bench", scenario, ...SMALL, ...options, "--durability", "replicated");
    assert.deepEqual(shown.totals.map(({ what }: Figures) => what).sort(), Object.keys(roles).sort());
    for (const total of shown.totals as Figures[]) {
      const expected = roles[total.what];
      assert.equal(total.messages, expected?.messages, total.what);
      assert.equal(total.bytes, total.messages * 64);
      if (expected?.latencies !== undefined) assert.equal(total.latencies, expected.latencies, total.what);
      const quantiles = ["p50", "p95", "p99", "p999", "max"].map((name) => Number(total[`${name}_ms`]));
      if (total.latencies > 0) assert.ok(quantiles.every((value) => value > 0));
      assert.deepEqual(
        quantiles,
        quantiles.toSorted((a, b) => a - b),
      );
      const own = (shown.actors as Figures[]).filter(({ what }) => what === total.what);
      assert.equal(
        own.reduce((sum, { messages }) => sum + messages, 0),
        total.messages,
      );
    }
    assert.ok(shown.client_cpu_seconds > 0);
    const streams = await json("stream", "list");
    assert.deepEqual(
      streams.map(({ name }: { name: string }) => name),
      [`mine-${scenario}`],
    );
    await json("stream", "delete", `mine-${scenario}`);
  });
}

test("on its own machine the server's CPU and memory show", {
  skip: process.platform !== "linux",
}, async () => {
  const shown = await json("bench", "balanced-producer", ...SMALL);
  assert.ok(shown.server_cpu_seconds > 0);
  assert.ok(shown.server_resident > 10 * 2 ** 20);
  assert.ok(shown.server_resident_highest >= shown.server_resident);
});

test("a rate limit holds, over WebSocket too, and the transport is on record", async () => {
  const args = ["--transport", "ws", "--websocket-server-address", server.webSocketAddress];
  const limited = ["--rate-limit", "20KB", "--message-size", "100", "--messages-per-batch", "10"];
  const more = ["--batches", "12", "--warm-up", "0", "--producers", "2", "--in-flight", "2"];
  const ran = await runFake([...args, "bench", "pinned-producer", ...limited, ...more, "--output", "json"], {
    connect,
    openPinger,
  });
  assert.equal(ran.exitCode, 0, ran.stderr);
  const shown = JSON.parse(ran.stdout);
  assert.equal(shown.transport, "ws");
  const [total] = shown.totals;
  // 24 KB at 20 KB/s: the last of 12 batches is due after 1.1 s, that of the second producer after 1.15 s.
  assert.ok(total.seconds >= 1.1, `it took ${total.seconds} s`);
  assert.ok(total.megabytes_per_second <= 0.022, `${total.megabytes_per_second} MB/s`);
});

test("Ctrl-C ends a run and deletes what it made", async () => {
  let press = () => {};
  const running = run(["bench", "pinned-producer", "--rate-limit", "100KB"], {
    onListen: (callback) => {
      press = callback;
    },
  });
  const listed = async () => (await json("stream", "list")).length;
  while ((await listed()) === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  press();
  const ran = await running;
  assert.equal(ran.exitCode, 1);
  assert.match(ran.stderr, /interrupted/);
  assert.equal(await listed(), 0);
});

test("the report is one page with its charts in it that loads nothing", async () => {
  const file = join(folder, "report.html");
  await json("bench", "end-to-end-producing-consumer", ...SMALL, "--producers", "2", "--report", file);
  const page = readFileSync(file, "utf8");
  assertWellFormed(page);
  assert.equal(page.match(/<svg /g)?.length, 2);
  assert.ok((page.match(/<polyline /g)?.length ?? 0) >= 4, "both charts have both lines");
  for (const loading of [/https?:/, /\bsrc=/, /\bhref=/, /@import/, /url\(/, /<script/, /<link/]) {
    assert.doesNotMatch(page, loading);
  }
  assert.doesNotMatch(page, /NaN|Infinity|undefined/);
});

test("a report that has nowhere to go is refused before anything is sent", async () => {
  const ran = await run(["bench", "pinned-producer", "--report", join(folder, "no", "report.html")], {
    connect: () => Promise.reject(new Error("it connected")),
  });
  assert.equal(ran.exitCode, 1);
  assert.match(ran.stderr, /does not exist/);
});

/** Every tag that opens closes, in the right order, and attributes are quoted. */
function assertWellFormed(page: string): void {
  const open: string[] = [];
  for (const [tag, slash, name = "", attributes = ""] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
    if (slash === "/") assert.equal(open.pop(), name, tag);
    else if (!attributes.endsWith("/")) open.push(name);
    assert.match(attributes, /^(\s+[a-zA-Z0-9-]+="[^"<]*")*\/?$/, tag);
  }
  assert.deepEqual(open, []);
}
