import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { BlockPool, HeapLeases, type Lease } from "@millrace/framing";
import { SeededRandom } from "@millrace/testkit";
import { MessageAssembler } from "./message-assembler.ts";
import { ExactSpace, type MessageSpace, SharedSpace } from "./message-space.ts";

function poolOf(blocks: number): BlockPool {
  const bytes = new Uint8Array(blocks * 4096);
  const memory = { bytes, view: new DataView(bytes.buffer), blocksStart: 0 };
  return new BlockPool(memory, { blockLength: 4096, checked: true });
}

function messageOf(length: number, mark: number): Uint8Array {
  const message = new Uint8Array(length).fill(mark);
  new DataView(message.buffer).setUint32(48, length, true);
  return message;
}

function assemblerOf(space: MessageSpace, onMessage: (messageLease: Lease) => void, messageLengthMax = 8192) {
  return new MessageAssembler({ space, onMessage, messageLengthMax });
}

test("any cuts and any mix of copying and reading in place give the same messages", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new SeededRandom(seed);
    const messages = Array.from({ length: 30 }, (_, index) => messageOf(256 + random.below(5000), index));
    const stream = Uint8Array.from(messages.flatMap((message) => [...message]));
    const pool = poolOf(8);
    const space = new SharedSpace(pool);
    const received: Uint8Array[] = [];
    const assembler = assemblerOf(space, (messageLease) => received.push(messageLease.bytes.slice()));
    for (let at = 0; at < stream.length; ) {
      const piece = stream.subarray(at, at + 1 + random.below(3000));
      at += random.below(2) === 0 ? assembler.push(piece) : readInPlace(assembler, piece);
    }
    assert.deepEqual(received, messages);
    assembler.close();
    space.release();
    assert.equal(pool.leasesOut, 0);
  }
});

/** Puts as much of `piece` as the begun message lacks straight into its place; copies when none is begun. */
function readInPlace(assembler: MessageAssembler, piece: Uint8Array): number {
  const target = assembler.target();
  if (target === undefined) return assembler.push(piece);
  const length = Math.min(target.length, piece.length);
  target.set(piece.subarray(0, length));
  assembler.filled(length);
  return length;
}

test("messages of several assemblers share a block", () => {
  const pool = poolOf(8);
  const space = new SharedSpace(pool);
  const held: Lease[] = [];
  const keep = (messageLease: Lease) => {
    messageLease.retain();
    held.push(messageLease);
  };
  const assemblers = Array.from({ length: 10 }, () => assemblerOf(space, keep));
  for (const [index, assembler] of assemblers.entries()) assembler.push(messageOf(300, index));
  assert.equal(held.length, 10);
  assert.equal(pool.blocksFree, 7);
  for (const [index, lease] of held.entries()) {
    assert.deepEqual(lease.bytes, messageOf(300, index));
    lease.release();
  }
  space.release();
  assert.equal(pool.blocksFree, 8);
});

test("a long message between short ones keeps the block with more room", () => {
  const pool = poolOf(8);
  const space = new SharedSpace(pool);
  const leases = [space.take(256), space.take(4000), space.take(4096), space.take(8000), space.take(3000)];
  assert.deepEqual(
    leases.map((lease) => lease?.position),
    [0, 4096, 8192, 12288, 256],
  );
  for (const lease of leases) lease?.release();
  space.release();
  assert.equal(pool.leasesOut, 0);
});

test("without room nothing beyond the head is taken, and a later push goes on", () => {
  const pool = poolOf(1);
  const blocker = pool.allocate(1);
  const received: number[] = [];
  const space = new SharedSpace(pool);
  const assembler = assemblerOf(space, (messageLease) => received.push(messageLease.length));
  const message = messageOf(700, 1);
  assert.equal(assembler.push(message), 52);
  assert.equal(assembler.waitsForRoom, true);
  assert.equal(assembler.push(message.subarray(52)), 0);
  blocker?.release();
  assert.equal(assembler.push(message.subarray(52)), 648);
  assert.deepEqual(received, [700]);
  space.release();
});

test("after a bad length nothing is taken any more", () => {
  for (const length of [0, 255, 8193, 2 ** 32 - 1]) {
    const received: number[] = [];
    const assembler = assemblerOf(new ExactSpace(new HeapLeases()), (lease) => received.push(lease.length));
    const bad = messageOf(256, 1);
    new DataView(bad.buffer).setUint32(48, length, true);
    assert.equal(assembler.push(bad), 52);
    const code = length < 256 ? ErrorCode.InvalidCommand : ErrorCode.FrameTooLarge;
    assert.ok(isCodedError(assembler.fault, code));
    assert.equal(assembler.fault.details["length"], length);
    assert.equal(assembler.push(messageOf(256, 2)), 0);
    assert.deepEqual(received, []);
  }
});

test("a taker that throws still gives the lease back", () => {
  const pool = poolOf(2);
  const space = new SharedSpace(pool);
  const assembler = assemblerOf(space, () => {
    throw new Error("taker");
  });
  assert.throws(() => assembler.push(messageOf(300, 1)), /taker/);
  space.release();
  assert.equal(pool.leasesOut, 0);
});

test("a closed assembler lets its begun message go and takes nothing", () => {
  const pool = poolOf(2);
  const space = new SharedSpace(pool);
  const assembler = assemblerOf(space, () => assert.fail("no message was whole"));
  assembler.push(messageOf(600, 1).subarray(0, 500));
  assert.equal(assembler.midMessage, true);
  assembler.close();
  assert.equal(assembler.push(messageOf(600, 1)), 0);
  space.release();
  assert.equal(pool.leasesOut, 0);
});

test("a client's message has an array of exactly its length", () => {
  const lengths: number[] = [];
  const space = new ExactSpace(new HeapLeases());
  const assembler = assemblerOf(space, (lease) => lengths.push(lease.bytes.buffer.byteLength));
  assembler.push(Uint8Array.from([...messageOf(256, 1), ...messageOf(999, 2)]));
  assert.deepEqual(lengths, [256, 999]);
});
