import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { newWriter } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import {
  damagesOn,
  equalEverywhere,
  FOLDER,
  flip,
  HARMS,
  loseSector,
  openedOn,
  REPAIR,
  repair,
  shownBy,
  written,
} from "./damaged-partitions-fixture.test.ts";

describe("A damaged partition on a node of a cluster", () => {
  for (const [what, harm] of Object.entries(HARMS)) {
    it(`gets back from the others what it lost: ${what}`, async () => {
      const parts = await written();
      const { cluster, client, backups } = parts;
      const [at] = backups;
      cluster.kill(at);
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await harm(disk);
      await cluster.drive(client.ok("SendMessages", sendBody(["while it was away"])));
      await cluster.startNode(at);
      const group = await openedOn(parts, at);
      assert.ok(group.partition === undefined || (await damagesOn(parts, at)) > 0, "the damage is told");
      const reply = await repair(parts, at);
      assert.ok("outcome" in reply, JSON.stringify(reply));
      assert.equal(reply.outcome, "fetched");
      assert.notEqual(reply.damage, "");
      assert.equal(await damagesOn(parts, at), 0);
      await equalEverywhere(parts);
      cluster.kill(backups[1]);
      await cluster.drive(client.ok("SendMessages", sendBody(["it counts again"])));
      await cluster.startNode(backups[1]);
      await equalEverywhere(parts);
      await cluster.stop();
    });
  }

  it("waits for a state that reaches what it knew to be committed, when lost sectors are the damage too.", async () => {
    const parts = await written();
    const { cluster, backups } = parts;
    const [at] = backups;
    const committed = cluster.groupNow(at, 0)?.partition?.committedOp ?? 0;
    cluster.kill(at);
    const node = cluster.nodes[at];
    assert.ok(node !== undefined);
    await loseSector(node.disk);
    await cluster.startNode(at);
    await openedOn(parts, at);
    assert.ok((await damagesOn(parts, at)) > 0, "no power was lost, so it is damage");
    const operator = await cluster.login(at, 700n);
    node.diskLatencyMaxMs = 8;
    const answer = operator.command("RepairPartition", REPAIR);
    const awaited = await cluster.until(() => cluster.groupNow(at, 0)?.replica?.stateAwaited);
    assert.ok(awaited >= committed - 1, `${awaited} of ${committed}: all but the last are known to be`);
    assert.equal((await cluster.drive(answer)).code, 0);
    node.diskLatencyMaxMs = 0;
    assert.deepEqual(await node.disk.readDirectory("quarantine"), [], "no byte of it was cut");
    await equalEverywhere(parts);
    await cluster.stop();
  });

  it("is repaired on the node that leads it, which hands it over first.", async () => {
    const parts = await written();
    const { cluster, primary } = parts;
    const disk = cluster.nodes[primary]?.disk;
    assert.ok(disk !== undefined);
    await flip(".log", 0, 5000)(disk);
    const reply = await repair(parts, primary);
    assert.ok("outcome" in reply, JSON.stringify(reply));
    assert.equal(reply.outcome, "fetched");
    assert.equal(await damagesOn(parts, primary), 0);
    await equalEverywhere(parts);
    await cluster.stop();
  });

  it("that is whole has nothing to repair, and is not touched.", async () => {
    const parts = await written();
    const { cluster, primary, backups } = parts;
    for (const at of [primary, backups[0]]) {
      const before = cluster.groupNow(at, 0)?.partition;
      const reply = await repair(parts, at);
      assert.ok("outcome" in reply);
      assert.deepEqual([reply.outcome, reply.damage], ["healthy", ""]);
      assert.equal(cluster.groupNow(at, 0)?.partition, before);
    }
    await cluster.stop();
  });

  for (const isSilent of [false, true]) {
    it(`is left as it is while the others could not go on without it, silent: ${isSilent}`, async () => {
      const parts = await written();
      const { cluster, backups } = parts;
      const [at, other] = backups;
      cluster.kill(at);
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await flip(isSilent ? ".ops" : ".log", isSilent ? -1 : 0, isSilent ? 200 : 5000)(disk);
      await cluster.startNode(at);
      const group = await openedOn(parts, at);
      const operator = await cluster.login(at, 700n);
      await cluster.until(() => isSilent || group.replica?.status === "normal");
      cluster.kill(other);
      const before = group.partition;
      const { code, payload } = await cluster.drive(operator.command("RepairPartition", REPAIR));
      assert.equal(code, ErrorCode.PartitionDamaged);
      assert.match(new TextDecoder().decode(payload), /2 other nodes .* start those that are missing/);
      assert.equal(group.partition, before);
      await cluster.startNode(other);
      await cluster.until(() => cluster.groupNow(other, 0)?.replica?.status === "normal");
      const reply = await repair(parts, at);
      assert.equal("outcome" in reply && reply.outcome, "fetched");
      await equalEverywhere(parts);
      await cluster.stop();
    });
  }

  it("takes no damaged bytes from a node that is damaged itself: it asks the other one.", async () => {
    const parts = await written();
    const { cluster, primary, backups } = parts;
    for (const [at, byte] of [
      [backups[0], 5000],
      [primary, 300_000],
    ] as const) {
      const disk = cluster.nodes[at]?.disk;
      assert.ok(disk !== undefined);
      await flip(".log", 0, byte)(disk);
    }
    const reply = await repair(parts, backups[0]);
    assert.equal("outcome" in reply && reply.outcome, "fetched");
    assert.equal(await damagesOn(parts, backups[0]), 0);
    assert.ok((await damagesOn(parts, primary)) > 0, "the one that leads is damaged as before");
    const led = await repair(parts, primary);
    assert.equal("outcome" in led && led.outcome, "fetched");
    await equalEverywhere(parts);
    await cluster.stop();
  });

  it("that stays silent does not vote, and keeps what it acknowledged out of nobody's log.", async () => {
    const parts = await written();
    const { cluster, primary, backups, client } = parts;
    const [at, other] = backups;
    cluster.passes = ({ from, to }) => from !== other && to !== other;
    await cluster.drive(client.ok("SendMessages", sendBody(["only two have it"])));
    cluster.kill(at);
    const disk = cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    await flip(".ops", -1, 200)(disk);
    cluster.passes = () => true;
    cluster.kill(primary);
    await cluster.startNode(at);
    await openedOn(parts, at);
    await cluster.clock.run(20_000);
    assert.equal(cluster.groupNow(other, 0)?.isPrimary, false, "nobody leads without the one that has it");
    assert.equal(cluster.groupNow(at, 0)?.replica, undefined, "it could not be opened");
    await cluster.startNode(primary);
    await newWriter(cluster, [primary, other]);
    const reply = await repair(parts, at);
    assert.equal("outcome" in reply && reply.outcome, "fetched");
    await equalEverywhere(parts);
    assert.ok((await shownBy(parts, at, 900n)).texts.includes("only two have it"));
    await cluster.stop();
  });

  it("whose files are gone does not say that it never had what it acknowledged.", async () => {
    const parts = await written();
    const { cluster, primary, backups, client } = parts;
    const [at, other] = backups;
    cluster.passes = ({ from, to }) => from !== other && to !== other;
    await cluster.drive(client.ok("SendMessages", sendBody(["only two have it"])));
    cluster.kill(at);
    cluster.kill(primary);
    const disk = cluster.nodes[at]?.disk;
    assert.ok(disk !== undefined);
    const [folder] = await disk.readDirectory(FOLDER);
    await disk.removeDirectory(`${FOLDER}/${folder?.name}`);
    cluster.passes = () => true;
    await cluster.startNode(at);
    await openedOn(parts, at);
    await cluster.clock.run(20_000);
    const leads = [at, other].filter((node) => cluster.groupNow(node, 0)?.isPrimary);
    assert.deepEqual(leads, [], "nobody leads without a node that has it");
    await cluster.startNode(primary);
    await newWriter(cluster, [0, 1, 2]);
    await equalEverywhere(parts);
    assert.ok((await shownBy(parts, at, 900n)).texts.includes("only two have it"));
    await cluster.stop();
  });
});
