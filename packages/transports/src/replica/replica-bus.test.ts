import assert from "node:assert/strict";
import net from "node:net";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HEADER_LENGTH } from "@millrace/framing";
import { CLUSTER, FRAME_LENGTH_MAX, frameOf, until, withCluster } from "./replica-bus-setting.compliance.ts";

const TIMES = { keepaliveMs: 50, deadAfterMs: 250 };

interface StoppableWay {
  readonly port: number;
  readonly stop: () => void;
  readonly end: () => void;
}

/** A way between two replicas that can fall silent without closing. */
function stoppableWay(port: number): Promise<StoppableWay> {
  const sockets = new Set<net.Socket>();
  let isStopped = false;
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (bytes) => {
        if (!isStopped) other.write(bytes);
      });
      one.on("error", () => {});
      one.on("close", () => {
        if (!isStopped) other.destroy();
      });
    }
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({
        port: (server.address() as net.AddressInfo).port,
        stop: () => {
          isStopped = true;
        },
        end: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

describe("the bus between replicas", () => {
  test("connects each two by one connection and carries frames both ways, in order", () =>
    withCluster(async (cluster) => {
      const all = [await cluster.start(0), await cluster.start(1), await cluster.start(2)];
      await until(() => all.every(({ turns }) => turns.length === 2), "all are connected");
      for (const { bus, send } of all) {
        for (const to of [0, 1, 2]) {
          assert.equal(bus.isUp(to), to !== bus.replica);
          if (to === bus.replica) continue;
          for (let view = 1; view <= 100; view++) assert.equal(send(to, { view }), true);
          send(to, { view: 101, payload: new Uint8Array(FRAME_LENGTH_MAX - HEADER_LENGTH) });
          send(to, { view: 102, payload: Uint8Array.of(1) });
        }
      }
      await until(() => all.every(({ heard }) => heard.length === 204), "all have heard everything");
      for (const { bus, heard, count } of all) {
        for (const peer of [0, 1, 2].filter((id) => id !== bus.replica)) {
          const own = heard.filter((line) => line.startsWith(`${peer}:`));
          const small = Array.from({ length: 100 }, (_, index) => `${peer}:${index + 1}`);
          assert.deepEqual(own, [
            ...small,
            `${peer}:101+${FRAME_LENGTH_MAX - HEADER_LENGTH}`,
            `${peer}:102+1`,
          ]);
        }
        assert.equal(count("replica_frames_received_total"), 204);
        assert.equal(count("replica_frames_sent_total"), 204);
        assert.equal(count("replica_bytes_sent_total"), count("replica_bytes_received_total"));
      }
    }));

  test("drops and counts what is sent to a peer that is not there, and to itself", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0);
      let done = 0;
      for (const to of [0, 1, 2, 9])
        assert.equal(
          one.bus.send(to, frameOf(0), () => done++),
          false,
        );
      assert.deepEqual([done, one.count("replica_frames_dropped_total{down}")], [4, 4]);
    }));

  test("says what a peer lacks once, tries on, and connects when it comes", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      const refusals = () => one.lines.filter((line) => line.startsWith("A replica cannot be connected"));
      await until(() => refusals().length === 1, "the failure is told");
      await sleep(300);
      assert.equal(refusals().length, 1);
      await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1), "they are connected");
    }));

  test("keeps no more than its bound for a peer that does not read, and lets go of the rest at once", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      const two = await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      // The reader's memory of messages is full, so it reads no long frame.
      const held = two.pool.allocate(two.pool.blocksFree * two.pool.blockLength);
      assert.ok(held !== undefined);
      const payload = new Uint8Array(FRAME_LENGTH_MAX - HEADER_LENGTH);
      let done = 0;
      let sent = 0;
      for (let view = 1; view <= 50; view++) {
        if (one.bus.send(1, frameOf(0, { view, payload }), () => done++)) sent++;
        if (view === 25) await sleep(50);
      }
      assert.ok(sent >= 2 && sent <= 10, `queued ${sent}`);
      assert.ok(done >= 40, `let go of ${done}`);
      assert.equal(one.count("replica_frames_dropped_total{full}"), 50 - sent);
      assert.equal(one.lines.filter((line) => line.startsWith("Frames for a replica are dropped")).length, 1);
      held.release();
      await until(() => done === 50 && two.heard.length === sent, "the queue is written");
    }));

  test("takes no more frames for a peer than it was told to keep", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2, queueFramesMax: 10 });
      await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1), "they are connected");
      const taken = Array.from({ length: 15 }, () => one.send(1));
      assert.equal(taken.filter((isQueued) => isQueued).length, 10);
    }));

  test("hands over short frames also while the memory of messages is full", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      const two = await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      const leases = Array.from({ length: 8 }, () => two.pool.allocate(1));
      assert.equal(two.pool.blocksFree, 0);
      for (let view = 1; view <= 8000; view++) {
        one.send(1, { view });
        if (view % 1000 === 0) await until(() => two.heard.length === view, `it hears ${view}`);
      }
      for (const lease of leases) lease?.release();
    }));

  test("hands back a frame that is queued when the connection ends", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1), "they are connected");
      let done = 0;
      one.bus.send(1, frameOf(0), () => done++);
      await one.bus.close();
      assert.equal(done, 1);
    }));

  test("tells both ends when one closes, and takes it back when it comes again", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      const two = await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      await two.bus.close();
      await until(() => !one.bus.isUp(1), "the loss is seen");
      assert.deepEqual(two.turns, ["up 0", "down 0"]);
      await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1), "it is back");
      assert.deepEqual(one.turns, ["up 1", "down 1", "up 1"]);
      assert.equal(one.count("replica_connections_lost_total"), 1);
    }));

  test("keeps a connection on which nobody has anything to say", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2, times: TIMES });
      const two = await cluster.start(1, { replicaCount: 2, times: TIMES });
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      await sleep(4 * TIMES.deadAfterMs);
      assert.deepEqual([one.turns, two.turns], [["up 1"], ["up 0"]]);
      assert.deepEqual([one.heard, two.heard], [[], []]);
    }));

  test("ends a connection whose other side says nothing any longer", () =>
    withCluster(async (cluster) => {
      const one = cluster.make(0, { replicaCount: 2, times: TIMES });
      const ways: StoppableWay[] = [];
      const two = await cluster.start(1, { replicaCount: 2, times: TIMES }, async (own) => {
        const way = await stoppableWay(own);
        cluster.onStop(way.end);
        ways.push(way);
        return way.port;
      });
      await one.bus.listen();
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      const [way] = ways;
      way?.stop();
      await until(() => one.turns.includes("down 1") && two.turns.includes("down 0"), "both notice");
      assert.match(one.lines.join("\n"), /not connected any longer\. Replica 1 said nothing for 250 ms/);
    }));

  test("puts a new connection in the place of one that is silent", () =>
    withCluster(async (cluster) => {
      const patient = { keepaliveMs: 50, deadAfterMs: 60_000 };
      const two = await cluster.start(1, { replicaCount: 2, times: patient });
      const way = await stoppableWay(two.bus.port);
      cluster.onStop(way.end);
      const addressOf = () => ({ host: "127.0.0.1", port: way.port });
      const lost = cluster.make(0, { replicaCount: 2, times: patient, addressOf });
      await lost.bus.listen();
      await until(() => two.bus.isUp(0), "they are connected");
      way.stop();
      const back = await cluster.start(0, { replicaCount: 2, times: patient });
      await until(() => back.bus.isUp(1), "the new one is connected");
      await until(() => two.turns.length === 3, "the other side knows it");
      assert.deepEqual(two.turns, ["up 0", "down 0", "up 0"]);
      back.send(1, { view: 4 });
      await until(() => two.heard.includes("0:4"), "it is heard");
    }));

  test("cannot be of another cluster than its frames", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0, { replicaCount: 2 });
      const two = await cluster.start(1, { replicaCount: 2 });
      await until(() => one.bus.isUp(1) && two.bus.isUp(0), "they are connected");
      one.send(1, { cluster: CLUSTER + 1n });
      await until(() => two.turns.includes("down 0"), "the connection ends");
      assert.match(two.lines.join("\n"), /not connected any longer\. other_cluster/);
    }));

  test("cannot listen where another one does", () =>
    withCluster(async (cluster) => {
      const one = await cluster.start(0);
      const other = cluster.make(1, { listen: { host: "127.0.0.1", port: one.bus.port } });
      await assert.rejects(other.bus.listen(), /Cannot listen on 127\.0\.0\.1/);
    }));
});
