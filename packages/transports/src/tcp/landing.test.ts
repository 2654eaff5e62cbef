import assert from "node:assert/strict";
import { test } from "node:test";
import { HeapLeases } from "@millrace/framing";
import { ExactSpace } from "../assembly/message-space.ts";
import { LANDING_LENGTH, Landing } from "./landing.ts";
import { TcpConnection } from "./tcp-connection.ts";

const WIDE = 4 * LANDING_LENGTH;

/** A connection that was attached to no socket: the test reads `stream` for it. */
function readerOf(stream: Uint8Array, landing = new Landing()) {
  const received: Uint8Array[] = [];
  const space = new ExactSpace(new HeapLeases());
  const connection = new TcpConnection({ space, messageLengthMax: 1_000_000 });
  connection.onMessage = (messageLease) => received.push(messageLease.bytes.slice());
  const { buffer, callback } = connection.onread(landing);
  let at = 0;
  /** Reads as much as fits and there is, at most `available`; the length of the place it was given. */
  const read = (available = stream.length): number => {
    const target = (buffer as () => Uint8Array)();
    const length = Math.min(target.length, available, stream.length - at);
    target.set(stream.subarray(at, at + length));
    at += length;
    callback(length, target);
    return target.length;
  };
  return { received, read };
}

function messageOf(length: number, mark: number): Uint8Array {
  const message = new Uint8Array(length).fill(mark);
  new DataView(message.buffer).setUint32(48, length, true);
  return message;
}

test("after a long message only a little of the next is read where it has to be copied from", () => {
  const messages = [messageOf(300_000, 1), messageOf(300_000, 2), messageOf(500, 3), messageOf(400, 4)];
  const { received, read } = readerOf(Buffer.concat(messages));
  assert.deepEqual([read(), read()], [LANDING_LENGTH, 300_000 - LANDING_LENGTH]);
  assert.deepEqual([read(), read()], [4096, 300_000 - 4096]);
  assert.deepEqual([read(600), read()], [4096, LANDING_LENGTH]);
  assert.deepEqual(received, messages);
});

test("a long message of which the end comes apart is whole, and short ones after it", () => {
  const messages = [messageOf(200_000, 1), messageOf(4000, 2), messageOf(4000, 3), messageOf(200_000, 4)];
  const { received, read } = readerOf(Buffer.concat(messages));
  while (received.length < messages.length) read(70_001);
  assert.deepEqual(received, messages);
});

test("who fills the usual place reads four times as much at a time, until a read brings little", () => {
  const messages = Array.from({ length: 2000 }, (_, at) => messageOf(300 + (at % 7), at % 250));
  const { received, read } = readerOf(Buffer.concat(messages));
  assert.deepEqual([read(), read(), read(70_000)], [LANDING_LENGTH, WIDE, WIDE]);
  assert.deepEqual([read(LANDING_LENGTH - 1), read(10), read()], [WIDE, LANDING_LENGTH, LANDING_LENGTH]);
  assert.equal(read(), WIDE);
  while (received.length < messages.length) read();
  assert.deepEqual(received, messages);
});

test("no more than 64 connections read so much at a time", () => {
  const stream = Buffer.concat(Array.from({ length: 3000 }, (_, at) => messageOf(300, at % 250)));
  const landing = new Landing();
  const readers = Array.from({ length: 65 }, () => readerOf(stream, landing));
  for (const { read } of readers) assert.equal(read(), LANDING_LENGTH);
  assert.deepEqual(
    readers.map(({ read }) => read(100)),
    [...Array.from({ length: 64 }, () => WIDE), LANDING_LENGTH],
  );
  const [first, , last] = [readers[0], readers[1], readers[64]];
  assert.equal(last?.read(), LANDING_LENGTH, "one that read little has given its width back");
  assert.equal(last?.read(), WIDE);
  assert.equal(first?.read(), LANDING_LENGTH);
});
