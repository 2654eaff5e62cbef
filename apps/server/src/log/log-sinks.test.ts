import assert from "node:assert/strict";
import { test } from "node:test";
import { readable } from "./console-sink.ts";
import { LogSinks } from "./log-sinks.ts";
import { createPinoLog } from "./pino-log.ts";

function recording() {
  const lines: string[] = [];
  const calls: string[] = [];
  return {
    lines,
    calls,
    write: (line: string) => void lines.push(line),
    flushNow: () => void calls.push("flush"),
    close: async () => void calls.push("close"),
  };
}

test("A sink that comes during the start gets the earlier lines first; one that comes later does not.", async () => {
  const [first, second, third] = [recording(), recording(), recording()];
  const sinks = new LogSinks(first);
  sinks.write("1");
  sinks.add(second);
  sinks.write("2");
  sinks.settle();
  sinks.add(third);
  sinks.write("3");
  assert.deepEqual([first.lines, second.lines, third.lines], [["1", "2", "3"], ["1", "2", "3"], ["3"]]);
  sinks.flushNow();
  await sinks.close();
  sinks.write("4");
  assert.deepEqual(second.calls, ["flush", "close"]);
  assert.deepEqual([first.lines.length, second.lines.length], [4, 3], "the console stays until the end");
});

test("Lines held for later sinks are bounded.", () => {
  const [first, second] = [recording(), recording()];
  const sinks = new LogSinks(first);
  for (let index = 0; index < 1500; index++) sinks.write(String(index));
  sinks.add(second);
  assert.equal(second.lines.length, 1000);
});

test("Only lines of the level and above are written, as JSON with time, level, message and facts.", () => {
  const sink = recording();
  const log = createPinoLog({ level: "warn", sink });
  log.info("not this");
  log.child({ shard: 0 }).warn("this", { op: 7n });
  assert.equal(sink.lines.length, 1);
  const { time, ...rest } = JSON.parse(sink.lines[0] ?? "");
  assert.deepEqual(rest, { level: 40, msg: "this", op: "7", shard: 0 });
  assert.ok(Math.abs(time - Date.now()) < 60_000);
  assert.match(readable(sink.lines[0] ?? ""), /^\d\d:\d\d:\d\d\.\d{3} warn {2}this shard=0 op="7"\n$/);
});
