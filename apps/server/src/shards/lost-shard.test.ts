import assert from "node:assert/strict";
import { test } from "node:test";
import { BROKER_DEFAULTS } from "@millrace/broker";
import { createPinoLog } from "../log/pino-log.ts";
import { exitOnLostShard } from "../start/shutdown.ts";
import { startShards } from "./start-shards.ts";

const MIB = 1024 * 1024;
const OPTIONS = {
  shardsCount: 2,
  memoryLength: 16 * MIB,
  config: BROKER_DEFAULTS,
  dataPath: "/nowhere",
  logLevel: "info",
  sink: { write: () => {} },
  key: undefined,
};

/** A shard's thread that does what `source` says. */
const threadOf = (source: string) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

test("A shard whose thread throws or ends is lost, with the reason; one that is ended is not.", {
  timeout: 30_000,
}, async () => {
  for (const [source, pattern] of [
    ["throw new Error('broken invariant')", /broken invariant/],
    ["process.exit(0)", /its thread ended/],
  ] as const) {
    const lost = new Promise<[number, string]>((resolve) => {
      startShards({ ...OPTIONS, entry: threadOf(source), onLost: (...facts) => resolve(facts) });
    });
    const [shard, reason] = await lost;
    assert.equal(shard, 1);
    assert.match(reason, pattern);
  }
  const onLost = () => assert.fail("it was asked to end");
  const alive = startShards({ ...OPTIONS, entry: threadOf("setInterval(() => {}, 1000)"), onLost });
  await alive.end();
});

test("A lost shard ends the process with 1 and says why.", (context) => {
  const lines: string[] = [];
  const log = createPinoLog({ level: "info", sink: { write: (line) => void lines.push(line) } });
  const exit = context.mock.method(process, "exit", () => undefined as never);
  let flushed = 0;
  exitOnLostShard(log, () => {
    flushed += 1;
  })(1, "its thread ended");
  assert.deepEqual(exit.mock.calls[0]?.arguments, [1]);
  assert.equal(flushed, 1);
  assert.match(lines.join(""), /A shard has ended\. The server stops.*/);
  assert.match(lines.join(""), /"shard":1/);
});
