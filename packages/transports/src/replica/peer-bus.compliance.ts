import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PeerBus } from "@millrace/platform";
import { CLUSTER, frameOf, until } from "./replica-bus-setting.compliance.ts";

/** Two buses that are connected, and a way to part them. */
export interface PairUnderTest {
  readonly zero: PeerBus;
  readonly one: PeerBus;
  /** Ends the connection between both. */
  part(): void;
  stop(): Promise<void>;
}

/** What every bus between replicas holds to, also the one of the simulator. */
export function describePeerBusCompliance(name: string, connect: () => Promise<PairUnderTest>): void {
  const withPair = async (body: (pair: PairUnderTest) => Promise<void>) => {
    const pair = await connect();
    try {
      await body(pair);
    } finally {
      await pair.stop();
    }
  };

  describe(`a bus between replicas (${name})`, () => {
    test("knows who it is and whom it reaches", () =>
      withPair(async ({ zero, one }) => {
        assert.deepEqual([zero.replica, one.replica, zero.replicaCount, one.replicaCount], [0, 1, 2, 2]);
        assert.deepEqual([zero.isUp(0), zero.isUp(1), one.isUp(0), zero.isUp(7)], [false, true, true, false]);
      }));

    test("hands over frames whole and in order, with the replica they are from", () =>
      withPair(async ({ zero, one }) => {
        const heard: unknown[] = [];
        one.onFrame = (from, frame, frameLease) => {
          heard.push([from, frame.view, frame.payload.length]);
          assert.equal(frameLease.length, 256 + frame.payload.length);
          assert.deepEqual(frame.payload, frameLease.bytes.subarray(frame.payloadPosition));
        };
        const sent = Array.from({ length: 20 }, (_, index) => ({ view: index, length: index * 1000 }));
        for (const { view, length } of sent) {
          assert.equal(zero.send(1, frameOf(0, { view, payload: new Uint8Array(length).fill(view) })), true);
        }
        await until(() => heard.length === sent.length, "all are heard");
        assert.deepEqual(
          heard,
          sent.map(({ view, length }) => [0, view, length]),
        );
      }));

    test("tells once of each frame that its parts are free again, also of those it drops", () =>
      withPair(async ({ zero }) => {
        const done = [0, 0, 0];
        assert.equal(
          zero.send(1, frameOf(0), () => done[0]!++),
          true,
        );
        for (const [index, to] of [
          [1, 0],
          [2, 7],
        ] as const) {
          assert.equal(
            zero.send(to, frameOf(0), () => done[index]!++),
            false,
          );
          assert.equal(done[index], 1);
        }
        await until(() => done[0] === 1, "the parts are free");
      }));

    test("keeps a frame for as long as its lease is held", () =>
      withPair(async ({ zero, one }) => {
        const kept: Parameters<PeerBus["onFrame"]>[] = [];
        one.onFrame = (...heard) => {
          heard[2].retain();
          kept.push(heard);
        };
        for (let view = 0; view < 50; view++) {
          zero.send(1, frameOf(0, { view, payload: new Uint8Array(5000).fill(view) }));
        }
        await until(() => kept.length === 50, "all are heard");
        for (const [index, [, { payload }, frameLease]] of kept.entries()) {
          assert.ok(payload.every((byte) => byte === index));
          frameLease.release();
        }
      }));

    test("hands over no frame of another cluster, of another replica, or with a bad seal", () =>
      withPair(async ({ zero, one }) => {
        const heard: number[] = [];
        one.onFrame = (_from, { view }) => heard.push(view);
        const [damaged] = frameOf(0, { view: 3 });
        damaged![150]! ^= 1;
        const wrong = [frameOf(0, { cluster: CLUSTER + 1n, view: 1 }), frameOf(1, { view: 2 }), [damaged!]];
        for (const parts of wrong) {
          await until(() => zero.isUp(1) && one.isUp(0), "they are connected");
          zero.send(1, parts);
        }
        await until(() => {
          zero.send(1, frameOf(0, { view: 9 }));
          return heard.length > 0;
        }, "a good one is heard afterwards");
        assert.ok(heard.every((view) => view === 9));
      }));

    test("tells both sides when they are parted, and loses what is sent then", () =>
      withPair(async ({ zero, one, part }) => {
        const lost: string[] = [];
        zero.onPeerDown = (peer) => lost.push(`0 lost ${peer}`);
        one.onPeerDown = (peer) => lost.push(`1 lost ${peer}`);
        part();
        await until(() => lost.length === 2, "both hear of it");
        assert.deepEqual(lost.sort(), ["0 lost 1", "1 lost 0"]);
        assert.equal(zero.send(1, frameOf(0)), zero.isUp(1));
      }));
  });
}
