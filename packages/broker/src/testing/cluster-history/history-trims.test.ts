import assert from "node:assert/strict";
import { test } from "node:test";
import { TopicOracle } from "./history-oracle.ts";
import { Trims } from "./history-trims.ts";

const PRODUCER = { producer: 102n, turn: 0, sentMs: 0 };

/** A partition from whose front something is taken, and the time. */
function fixture({ expiryMs, isPurged = false }: { expiryMs?: number; isPurged?: boolean } = {}) {
  const clock = { nowMs: 0 };
  const trims = new Trims({ nowMs: () => clock.nowMs, expiryMs });
  const topic = new TopicOracle({ name: "t", partitionId: 0, isPermanent: false, isPurged, trims });
  let offset = 0;
  const send = (text: string) => {
    topic.acknowledged([text], offset, topic.sending([text], PRODUCER));
    offset += 1;
  };
  const restart = () => {
    offset = 0;
  };
  return { clock, trims, topic, send, restart };
}

/** Messages from an offset on. */
const messages = (texts: readonly string[], first: number) =>
  texts.map((text, at) => ({ offset: first + at, text }));

test("what a deletion of segments may have met may be gone from the front, and from nowhere else", () => {
  const { topic, trims, send } = fixture();
  for (const text of ["a", "b", "c"]) send(text);
  trims.begins();
  trims.ends();
  assert.throws(() => topic.finally(messages(["a", "b"], 0)), /acknowledged c of t\/0 is there/);
  topic.finally(messages(["b", "c"], 1));
  assert.equal(topic.trimmedCount, 1);
  topic.read(messages(["c"], 2), 0);
  assert.throws(() => topic.finally(messages(["a", "b", "c"], 0)), /begins at 0, and something before 2/);
  topic.finally([]);
});

test("a deletion may come between the segments of a read, and nothing comes back behind it", () => {
  const { topic, trims, send } = fixture();
  for (const text of ["a", "b", "c"]) send(text);
  const holed = [...messages(["a"], 0), ...messages(["c"], 2)];
  assert.throws(() => topic.read(holed, 0), /b of t\/0@1 is gone, and nothing may have taken it/);
  trims.begins();
  topic.read(messages(["a", "b"], 0), 0);
  topic.read(holed, 0);
  assert.throws(() => topic.finally(holed), /no hole before c at the end/);
  assert.throws(() => topic.finally(messages(["b", "c"], 1)), /begins at 1, and something before 2/);
  assert.throws(() => topic.read([...messages(["c"], 2), ...messages(["b"], 1)], 2), /no hole before b/);
  topic.finally(messages(["c"], 2));
});

test("nothing is gone when nothing was deleted, or only before it was sent", () => {
  const { topic, trims, send } = fixture();
  trims.begins();
  trims.ends();
  for (const text of ["a", "b"]) send(text);
  const taken = /a of t\/0@0 is gone, and nothing may have taken it/;
  assert.throws(() => topic.read(messages(["b"], 1), 0), taken);
  assert.throws(() => topic.finally(messages(["b"], 1)), taken);
  assert.throws(() => topic.finally([]), taken);
});

test("a message expires by the clock that is ahead most, and not before", () => {
  const { topic, clock, send } = fixture({ expiryMs: 30_000 });
  send("a");
  clock.nowMs = 5000;
  send("b");
  clock.nowMs = 19_999;
  assert.throws(() => topic.read(messages(["b"], 1), 0), /a of t\/0@0 is gone/);
  clock.nowMs = 20_000;
  topic.read(messages(["b"], 1), 0);
  assert.throws(() => topic.finally([]), /b of t\/0@1 is gone/);
});

test("what a stored offset has not passed is kept, since there is one", () => {
  const { topic, trims, clock, send } = fixture();
  send("a");
  clock.nowMs = 10;
  topic.storedOf(5).stored(0, clock.nowMs);
  for (const text of ["b", "c"]) send(text);
  trims.begins();
  topic.finally(messages(["b", "c"], 1));
  const held = /b of t\/0@1 is gone, and consumer 5 has not passed it/;
  assert.throws(() => topic.finally(messages(["c"], 2)), held);
  assert.throws(() => topic.read(messages(["c"], 2), 0), held);
  topic.storedOf(5).storing(1);
  topic.finally(messages(["c"], 2));
  topic.storedOf(5).moving();
  topic.finally([]);
});

test("behind a purge messages begin at 0 again, and what was deleted before it excuses nothing", () => {
  const { topic, trims, send, restart } = fixture({ isPurged: true });
  for (const text of ["a", "b"]) send(text);
  trims.begins();
  trims.ends();
  topic.purgeBegins();
  topic.purgeEnds();
  restart();
  for (const text of ["c", "d"]) send(text);
  // Of a node that is behind.
  topic.read(messages(["b"], 1), 0);
  assert.throws(() => topic.read(messages(["d"], 1), 0), /c of t\/0@0 is gone/);
  topic.finally(messages(["c", "d"], 0));
  assert.throws(() => topic.finally(messages(["d"], 1)), /c of t\/0@0 is gone/);
});
