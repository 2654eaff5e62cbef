import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import { SimClock } from "@millrace/platform/sim";
import { decodeGetClusterGroupsReply, encodeGetClusterGroups } from "@millrace/protocol";
import type { Replica } from "@millrace/vsr";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { isPartitions } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";
import { WaitingGroups } from "./waiting-groups.ts";

const PATIENCE_MS = 30_000;

function setUp() {
  const clock = new SimClock();
  const lines: Line[] = [];
  const waiting = new WaitingGroups({ clock, log: recordedLog(lines) });
  const standings = new Map<object, Partial<Replica>>();
  let isFetched = false;
  /** Looks at all groups each second. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      await clock.run(1000);
      let at = 0;
      for (const [group, replica] of standings) {
        const name = `1/2/${at}`;
        at += 1;
        waiting.look(group, {
          replica: replica as Replica,
          name: () => name,
          isFetched: () => isFetched,
        });
      }
      waiting.tell();
    }
  };
  const fetching = (is: boolean) => {
    isFetched = is;
  };
  return { lines, waiting, standings, pass, fetching };
}

const normal = (op: number, commitKnown: number) =>
  ({ status: "normal", isPrimary: false, view: 3, primary: 0, op, commit: op, commitKnown }) as const;

describe("A group that comes no further", () => {
  it("is told of once, with what it lacks, and again when it goes on.", async () => {
    const { lines, waiting, standings, pass } = setUp();
    const group = {};
    standings.set(group, normal(5, 7));
    await pass(PATIENCE_MS);
    assert.equal(lines.length, 0);
    await pass(60_000);
    assert.deepEqual(
      lines.map(({ level, facts }) => [level, facts]),
      [
        // biome-ignore format: one line
        ["warn", { group: "1/2/0", status: "normal", view: 3, leader: 0, op: 5, committedElsewhere: 7 }],
      ],
    );
    assert.equal(waiting.isTold(group), true);
    standings.set(group, normal(7, 7));
    await pass(1000);
    assert.deepEqual([lines[1]?.level, lines[1]?.facts], ["info", { group: "1/2/0" }]);
    assert.equal(waiting.isTold(group), false);
  });

  it("is not one that comes further, has all, is fetched as a whole, or leads.", async () => {
    const { lines, standings, pass, fetching } = setUp();
    const [slow, whole, leading] = [{}, {}, {}];
    standings.set(whole, normal(7, 7));
    standings.set(leading, { ...normal(7, 9), isPrimary: true });
    for (let op = 0; op < 10; op += 1) {
      standings.set(slow, normal(op, 100));
      await pass(PATIENCE_MS);
    }
    fetching(true);
    await pass(2 * PATIENCE_MS);
    assert.equal(lines.length, 0);
    fetching(false);
    standings.set(slow, { ...normal(100, 100), status: "view-change" });
    await pass(2 * PATIENCE_MS);
    assert.equal(lines.length, 1, "it does not know the log of its view");
  });

  it("is counted with the others when there are many.", async () => {
    const { lines, standings, pass } = setUp();
    for (let count = 0; count < 4; count += 1) standings.set({}, normal(1, 2));
    await pass(2 * PATIENCE_MS);
    assert.deepEqual(lines.map(({ facts }) => facts), [{ groups: 4, first: "1/2/0" }]); // biome-ignore format: one line
  });
});

describe("A backup that nobody gives what it lacks", () => {
  it("is told of in the log and by its standing, until it has it.", async () => {
    const lines: Line[] = [];
    const cluster = await TestCluster.start(3, { log: recordedLog(lines) });
    const primary = await cluster.metadataPrimary();
    const lacking = (primary + 1) % 3;
    const client = await cluster.login(primary);
    await cluster.drive(createSmallTopic(client));
    const group = await cluster.group(lacking, 0);
    cluster.passes = (packet) =>
      packet.to !== lacking || !isPartitions(packet) || packet.bytes[60] !== ReplicaCommand.prepare;
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    const statusOf = async () => {
      const asked = client.ok("GetClusterGroups", encodeGetClusterGroups({ countMax: 1 }));
      const { partitions } = decodeGetClusterGroupsReply(await cluster.drive(asked));
      return partitions[0]?.standings[lacking]?.status;
    };
    const said = () => lines.filter(({ level, facts }) => level === "warn" && facts["group"] === "0/0/0");
    await cluster.clock.run(20_000);
    assert.deepEqual([await statusOf(), said().length], ["normal", 0]);
    await cluster.clock.run(20_000);
    assert.deepEqual([await statusOf(), said().length], ["recovering", 1]);
    assert.deepEqual([said()[0]?.facts["op"], said()[0]?.facts["committedElsewhere"]], [0, 1]);
    assert.equal(group.replica?.status, "normal");
    cluster.passes = () => true;
    await cluster.until(() => group.partition?.committedOp === 1);
    await cluster.clock.run(200);
    assert.equal(await statusOf(), "normal");
    assert.ok(lines.some(({ level, facts }) => level === "info" && facts["group"] === "0/0/0"));
    await cluster.stop();
  });
});
