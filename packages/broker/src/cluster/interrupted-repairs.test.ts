import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import { isPartitions, type SmallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import {
  damagesOn,
  equalEverywhere,
  flip,
  openedOn,
  REPAIR,
  repair,
  shownBy,
  written,
} from "./damaged-partitions-fixture.test.ts";

/** Longest time of a call to the disk of the damaged node, so that steps can be told apart. */
const DISK_MS = 8;
/** Parts of the time of a whole repair after which the node is killed. */
const PARTS = [0.3, 0.6, 0.8, 0.95];

/** Nothing new of the partition reaches node `other`; everything else does. */
function keepFrom({ cluster }: SmallCluster, other: number): void {
  cluster.passes = ({ to, bytes }) =>
    to !== other || !isPartitions({ bytes }) || bytes[60] !== ReplicaCommand.prepare;
}

/**
 * A node that is damaged in this way, and has with the primary alone what was acknowledged last; it is told
 * to repair, and nobody waits for that.
 */
async function repairing(isSilent: boolean) {
  const parts = await written();
  const { cluster, client, backups } = parts;
  const [at, other] = backups;
  keepFrom(parts, other);
  await cluster.drive(client.ok("SendMessages", sendBody(["only two have it"])));
  const node = cluster.nodes[at];
  assert.ok(node !== undefined);
  if (isSilent) cluster.kill(at);
  await flip(isSilent ? ".ops" : ".log", isSilent ? -1 : 0, isSilent ? 200 : 5000)(node.disk);
  if (isSilent) await cluster.startNode(at);
  await openedOn(parts, at);
  const operator = await cluster.login(at, 500n);
  node.diskLatencyMaxMs = DISK_MS;
  const answer = operator.command("RepairPartition", REPAIR);
  answer.catch(() => undefined);
  return { parts, at, other, answer };
}

/** Simulated milliseconds that a repair takes which nobody ends. */
async function repairTime(isSilent: boolean): Promise<number> {
  const { parts, answer } = await repairing(isSilent);
  const { cluster } = parts;
  const startMs = cluster.clock.monotonicMs();
  assert.equal((await cluster.drive(answer)).code, 0);
  const tookMs = cluster.clock.monotonicMs() - startMs;
  await cluster.stop();
  return tookMs;
}

/** How a repair ends that is asked for until it has failed. */
async function repairedInVain({ cluster }: SmallCluster, at: number) {
  const operator = await cluster.login(at, 500n);
  for (let tries = 0; ; tries += 1) {
    assert.ok(tries < 12, "it ends within some minutes");
    const { code, payload } = await cluster.drive(operator.command("RepairPartition", REPAIR));
    if (code !== 0) return { code, text: new TextDecoder().decode(payload) };
  }
}

describe("A repair on a node of a cluster", () => {
  for (const isSilent of [false, true]) {
    it(`that a kill ends loses nothing, wherever it was; silent: ${isSilent}`, async () => {
      const wholeMs = await repairTime(isSilent);
      for (const part of PARTS) {
        const { parts, at, other } = await repairing(isSilent);
        const { cluster, primary } = parts;
        await cluster.clock.run(Math.round(part * wholeMs));
        cluster.kill(at);
        cluster.kill(primary);
        cluster.passes = () => true;
        const node = cluster.nodes[at];
        if (node !== undefined) node.diskLatencyMaxMs = 0;
        await cluster.startNode(at);
        await openedOn(parts, at);
        await cluster.clock.run(10_000);
        await cluster.startNode(primary);
        await cluster.until(() => [0, 1, 2].some((one) => cluster.groupNow(one, 0)?.isPrimary === true));
        for (const one of [other, primary])
          await cluster.until(() => cluster.groupNow(one, 0)?.replica?.status === "normal");
        const reply = await repair(parts, at, 800n);
        assert.ok("outcome" in reply, `${part}: ${JSON.stringify(reply)}`);
        assert.equal(await damagesOn(parts, at), 0, `${part}`);
        await equalEverywhere(parts);
        assert.ok((await shownBy(parts, other, 900n)).texts.includes("only two have it"), `${part}`);
        await cluster.stop();
      }
    });
  }

  it("ends, and says why, when the others are damaged too; the replica goes on with what it has.", async () => {
    const parts = await written();
    const { cluster, primary, backups, client } = parts;
    for (const { disk } of cluster.nodes) await flip(".log", 0, 5000)(disk);
    const [at, other] = backups;
    const ended = await repairedInVain(parts, at);
    assert.equal(ended.code, ErrorCode.PartitionDamaged);
    assert.match(ended.text, /the other nodes have no good state of the partition/);
    const group = cluster.groupNow(at, 0);
    assert.deepEqual([group?.replica?.status, group?.replica?.stateAwaited], ["normal", undefined]);
    cluster.kill(other);
    await cluster.drive(client.ok("SendMessages", sendBody(["it counts"])));
    assert.equal(group?.partition?.lastOp, cluster.groupNow(primary, 0)?.partition?.lastOp);
    await cluster.startNode(other);
    await cluster.stop();
  });

  it("ends with the full disk of the node that has no room for a second state, and is done once it has.", async () => {
    const parts = await written();
    const [at] = parts.backups;
    const disk = parts.cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    await flip(".log", 0, 5000)(disk);
    disk.setFaults(({ kind, path }) =>
      kind === "write" && path.startsWith("incoming/") ? { kind: "error", errno: "ENOSPC" } : undefined,
    );
    const ended = await repairedInVain(parts, at);
    assert.equal(ended.code, ErrorCode.DiskFull);
    assert.match(ended.text, /has to hold the partition a second time/);
    assert.equal(parts.cluster.groupNow(at, 0)?.replica?.status, "normal", "it goes on with what it has");
    disk.setFaults(undefined);
    assert.ok("outcome" in (await repair(parts, at, 801n)));
    assert.equal(await damagesOn(parts, at), 0);
    await parts.cluster.stop();
  });

  it("does not fill the disk under what is written meanwhile when the second state does not fit.", async () => {
    const parts = await written();
    const { cluster, client } = parts;
    const [at] = parts.backups;
    const disk = cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    await flip(".log", 0, 5000)(disk);
    const { totalLength, freeLength } = await disk.space();
    disk.setSpace(totalLength - freeLength + 1_000_000);
    let [leastFree, isOver] = [1_000_000, false];
    const look = async () => {
      leastFree = Math.min(leastFree, (await disk.space()).freeLength);
      if (!isOver) cluster.clock.setTimer(1, look);
    };
    await look();
    assert.equal((await repairedInVain(parts, at)).code, ErrorCode.DiskFull);
    isOver = true;
    assert.ok(leastFree > 900_000, `${leastFree} bytes were free all the time`);
    await cluster.drive(client.ok("SendMessages", sendBody(["goes on"])));
    assert.equal(cluster.silentGroups(at), 0);
    disk.setSpace(Number.POSITIVE_INFINITY);
    assert.ok("outcome" in (await repair(parts, at, 802n)));
    await cluster.stop();
  });
});
