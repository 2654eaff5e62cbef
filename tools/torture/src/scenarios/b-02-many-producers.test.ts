import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { MillraceClient, ReceivedMessage } from "@millrace/client";
import { SeededRandom, scenarioSize } from "@millrace/testkit";
import { type Place, type Scene, scenario } from "./scene.ts";

const MIB = 1024 * 1024;
const LENGTH = scenarioSize({ push: 12 * MIB, whole: 500 * MIB });
const PRODUCERS = 16;
const BATCH_COUNT_MAX = 200;
const PAYLOAD_LENGTH_MAX = 2000;
const PAGE = 4000;

/** Offset of the first message of a batch, by producer and number of that message. */
type Bases = Map<string, number>;

scenario(
  "B-02: sixteen producers and rolling segments: all is there, in each one's order, found by offset and time.",
  {},
  async (scene) => {
    const place = await scene.createTopic(1, { segmentSize: "1 MiB" });
    const bases: Bases = new Map();
    const producers = Array.from({ length: PRODUCERS }, (_, producer) =>
      produce(scene, place, producer, bases),
    );
    const count = (await Promise.all(producers)).reduce((sum, one) => sum + one, 0);
    const reader = await scene.connect();
    const log = await readAll(reader, place, bases);
    assert.equal(log.length, count, "every acknowledged message is there, and no other");
    const edges = segmentStarts(scene.folder);
    assert.ok(edges.length > (LENGTH / MIB) * 0.8, "it went through many segments");
    for (const edge of edges) await lookAround(reader, place, log, edge);
  },
);

/** What a message carries depends on its producer and number alone. */
function payloadOf(producer: number, number: number): string {
  const random = new SeededRandom(producer * 1_000_003 + number);
  return `${producer} ${number} `.padEnd(random.below(PAYLOAD_LENGTH_MAX), "abcdefghij");
}

/** Sends batches of 1 to 200 until its part of the length is sent. The count of its messages. */
async function produce(scene: Scene, place: Place, producer: number, bases: Bases): Promise<number> {
  const client = await scene.connect();
  const random = new SeededRandom(producer);
  let number = 0;
  for (let sent = 0; sent < LENGTH / PRODUCERS; ) {
    const count = 1 + random.below(BATCH_COUNT_MAX);
    const messages = Array.from({ length: count }, (_, index) => ({
      payload: payloadOf(producer, number + index),
    }));
    const [where] = await client.sendMessages({ ...place, partitioning: { partition: 0 }, messages });
    bases.set(`${producer} ${number}`, Number(where?.baseOffset));
    number += count;
    sent += messages.reduce((sum, { payload }) => sum + payload.length, 0);
  }
  return number;
}

/** Times of all messages by offset, after each was found to be the next one of its producer. */
async function readAll(client: MillraceClient, place: Place, bases: Bases): Promise<bigint[]> {
  const next = new Array<number>(PRODUCERS).fill(0);
  const times: bigint[] = [];
  for (;;) {
    const startAt = { offset: times.length };
    const { messages } = await client.pollMessages({ ...place, consumer: 1, startAt, count: PAGE });
    if (messages.length === 0) return times;
    for (const message of messages) {
      assert.equal(message.offsetNumber, times.length, "offsets have no gap");
      const [producer = -1, number = -1] = message.text().split(" ").map(Number);
      assert.equal(number, next[producer], `order of producer ${producer}`);
      assert.equal(message.text(), payloadOf(producer, number));
      const base = bases.get(`${producer} ${number}`);
      if (base !== undefined) assert.equal(message.offsetNumber, base, "it is where it was acknowledged");
      next[producer] = number + 1;
      assert.ok(message.timestamp >= (times.at(-1) ?? 0n), "time does not go back");
      times.push(message.timestamp);
    }
  }
}

/** First offsets of all segments, from the names of their files. */
function segmentStarts(folder: string): number[] {
  const files = readdirSync(join(folder, "data", "streams"), { recursive: true, encoding: "utf8" });
  const logs = files.filter((file) => file.endsWith(".log"));
  return logs.map((file) => Number(/(\d+)\.log$/.exec(file)?.[1])).sort((one, other) => one - other);
}

/** Polls by offset around a segment's edge, and by the times that stand there. */
async function lookAround(client: MillraceClient, place: Place, log: readonly bigint[], edge: number) {
  const around = [edge - 1, edge, edge + 1].filter((offset) => offset >= 0 && offset < log.length);
  const first = async (startAt: { offset: number } | { timestamp: bigint }) => {
    const { messages } = await client.pollMessages({ ...place, consumer: 1, startAt, count: 2 });
    return messages.map((message: ReceivedMessage) => message.offsetNumber);
  };
  for (const offset of around) {
    const expected = [offset, offset + 1].filter((one) => one < log.length);
    assert.deepEqual(await first({ offset }), expected, `by offset at the edge ${edge}`);
    const time = log[offset] as bigint;
    for (const timestamp of [time - 1n, time, time + 1n]) {
      const [found] = await first({ timestamp });
      assert.equal(found, firstFrom(log, timestamp), `by time at the edge ${edge}`);
    }
  }
}

/** First offset at or after a time; none when all are earlier. */
function firstFrom(times: readonly bigint[], timestamp: bigint): number | undefined {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as bigint) < timestamp) low = middle + 1;
    else high = middle;
  }
  return low < times.length ? low : undefined;
}
