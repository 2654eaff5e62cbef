import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { createShardWay, NodeShardBus } from "./node-shard-bus.ts";

const MESSAGES = 30_000;
const BUS = JSON.stringify(new URL("./node-shard-bus.ts", import.meta.url).href);
/** Longer than a record of the ring, so that it travels in pieces; rare, for it takes a while. */
const LONG_LENGTH = 700_000;

/** Message number `at`: its number, then filling of a length that follows from it. */
function messageOf(at: number): Uint8Array {
  const length = at % 5000 === 4999 ? LONG_LENGTH : 4 + ((at * 37) % 200);
  const message = new Uint8Array(length).fill(at % 256);
  new DataView(message.buffer).setUint32(0, at, true);
  return message;
}

/** A shard in a thread of its own that sends back what it gets, or stays silent until it is told. */
function startEcho(): { bus: NodeShardBus; stop(): Promise<unknown> } {
  const { front, owner } = createShardWay();
  const source = `
    import { workerData } from "node:worker_threads";
    import { register } from ${JSON.stringify(import.meta.resolve("tsx/esm/api"))};
    register();
    const { NodeShardBus } = await import(${BUS});
    const bus = new NodeShardBus(1, 2, new Map([[0, workerData]]));
    bus.onMessage = (from, message) => bus.send(from, message);
    bus.start();
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const worker = new Worker(url, { workerData: owner, transferList: [owner.doorbell] });
  const bus = new NodeShardBus(0, 2, new Map([[1, front]]));
  return {
    bus,
    stop: () => {
      bus.close();
      return worker.terminate();
    },
  };
}

describe("NodeShardBus", () => {
  it("carries a burst of any length to another thread and back, whole and in order", {
    timeout: 60_000,
  }, async () => {
    const { bus, stop } = startEcho();
    let received = 0;
    const all = new Promise<void>((resolve) => {
      bus.onMessage = (from, message) => {
        assert.equal(from, 1);
        assert.equal(Buffer.compare(message, messageOf(received)), 0, `message ${received}`);
        received += 1;
        if (received === MESSAGES) resolve();
      };
    });
    bus.start();
    for (let at = 0; at < MESSAGES; at++) bus.send(1, messageOf(at));
    await all;
    await stop();
  });

  it("wakes a shard that has slept, again and again", { timeout: 60_000 }, async () => {
    const { bus, stop } = startEcho();
    let got: () => void = () => {};
    bus.onMessage = () => got();
    bus.start();
    for (let round = 0; round < 300; round++) {
      const back = new Promise<void>((resolve) => {
        got = resolve;
      });
      bus.send(1, messageOf(round));
      await back;
      if (round % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await stop();
  });
});
