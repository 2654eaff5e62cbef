import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { createProgress, progressText } from "./progress.ts";

function sink(isTTY: boolean) {
  const texts: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write: (text, _encoding, done) => {
      texts.push(text);
      done();
    },
  });
  return { texts, stream: Object.assign(stream, { isTTY }) };
}

test("the bar is as full as the share of bytes that was read", () => {
  const state = { bytes: 512, totalBytes: 1024, messages: 1500, seconds: 2, isTerminal: true };
  assert.equal(
    progressText(state),
    `[${"#".repeat(15)}${"-".repeat(15)}] 50 %, 1,500 messages, 512 B, 750 messages/s`,
  );
  assert.equal(progressText({ ...state, isTerminal: false }), "50 %, 1,500 messages, 512 B, 750 messages/s");
  assert.match(progressText({ ...state, bytes: 0, totalBytes: 0, seconds: 0 }), /100 %.* 0 messages\/s$/);
});

test("a terminal is redrawn ten times a second at most, and the last state always shows", () => {
  const { texts, stream } = sink(true);
  let now = 0;
  const progress = createProgress({ stream, totalBytes: 100, elapsedMs: () => now });
  for (now = 10; now <= 1_000; now += 10) progress.update(now / 10, now);
  progress.finish();
  assert.ok(texts.length <= 13, `${texts.length} writes`);
  assert.match(texts.at(-2) ?? "", /^\r\[#{30}\] 100 %, 1,000 messages/);
  assert.equal(texts.at(-1), "\n");
});

test("a log gets a line every five seconds and one at the end", () => {
  const { texts, stream } = sink(false);
  let now = 0;
  const progress = createProgress({ stream, totalBytes: 100, elapsedMs: () => now });
  for (now = 1_000; now <= 11_000; now += 1_000) progress.update(50, now);
  progress.finish();
  assert.equal(texts.length, 3);
  assert.ok(texts.every((text) => text.endsWith("messages/s\n") && !text.includes("\r")));
});
