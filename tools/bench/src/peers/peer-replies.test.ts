import assert from "node:assert/strict";
import { test } from "node:test";
import { NatsReplies } from "./nats-replies.ts";
import type { ReplyReader } from "./pipelined-peer.ts";
import { RespReplies, respCommand } from "./resp-replies.ts";

/** What a reader counts when bytes come in pieces of one length. */
function countedIn(make: () => ReplyReader, bytes: Buffer, pieceLength: number): number {
  const reader = make();
  let count = 0;
  for (let at = 0; at < bytes.length; at += pieceLength)
    count += reader.take(bytes.subarray(at, at + pieceLength));
  return count;
}

test("replies of Redis are counted however they are cut", () => {
  const bytes = Buffer.from("$15\r\n1700000000000-0\r\n+OK\r\n:12\r\n$-1\r\n$4\r\n\r\n\r\n\r\n");
  for (let length = 1; length <= bytes.length; length += 1) {
    assert.equal(
      countedIn(() => new RespReplies(), bytes, length),
      5,
      `pieces of ${length}`,
    );
  }
});

test("confirmations of JetStream are counted however they are cut, and a ping is answered", () => {
  const message = (body: string) => `MSG _INBOX.b 1 ${body.length}\r\n${body}\r\n`;
  const stored = message('{"stream":"b","seq":1}');
  const bytes = Buffer.from(`INFO {"a":1}\r\nPONG\r\n${stored}PING\r\n${stored}+OK\r\n`);
  for (let length = 1; length <= bytes.length; length += 1) {
    let pongs = 0;
    const pong = () => {
      pongs += 1;
    };
    const make = () => new NatsReplies(pong);
    assert.equal(countedIn(make, bytes, length), 2, `pieces of ${length}`);
    assert.equal(pongs, 1);
  }
});

test("a refusal of either is an error", () => {
  assert.throws(() => new RespReplies().take(Buffer.from("-OOM no memory\r\n")), /OOM no memory/);
  assert.throws(() => new RespReplies().take(Buffer.from("HTTP/1.1 400\n")), /not a RESP line/);
  const nats = () => new NatsReplies(() => {});
  assert.throws(() => nats().take(Buffer.from("-ERR 'Unknown'\r\n")), /Unknown/);
  const full = '{"error":{"code":503}}';
  assert.throws(() => nats().take(Buffer.from(`MSG i 1 ${full.length}\r\n${full}\r\n`)), /503/);
});

test("a command of Redis is an array of its words with their lengths in bytes", () => {
  assert.equal(respCommand("XADD", "s", "é").toString(), "*3\r\n$4\r\nXADD\r\n$1\r\ns\r\n$2\r\né\r\n");
});
