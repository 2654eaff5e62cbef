import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { SimDisk } from "@millrace/platform/sim";
import { decodeGetConsumerOffsetReply, encodeGetConsumerOffset, toIdentifier } from "@millrace/protocol";
import { isPartitions, smallCluster } from "../testing/small-cluster.ts";
import { pollBody } from "../testing/test-polls.ts";
import { deleteSegmentsBody, fillSegments, storeBody } from "../testing/test-topics.ts";
import {
  damagesOn,
  equalEverywhere,
  FOLDER,
  flip,
  openedOn,
  repair,
  shownBy,
  written,
} from "./damaged-partitions-fixture.test.ts";

const FILES = [[], [".log"], [".ops"], [".log", ".ops"]] as const;

/** Takes files of one of the partition's segments away, counted from the newest. */
async function removeOf(disk: SimDisk, back: number, endings: readonly string[]): Promise<void> {
  const [folder] = await disk.readDirectory(FOLDER);
  const names = (await disk.readDirectory(`${FOLDER}/${folder?.name}`)).map(({ name }) => name).sort();
  const segment = [...new Set(names.map((name) => name.slice(0, 20)))].at(-back) ?? "";
  for (const ending of endings) await disk.removeFile(`${FOLDER}/${folder?.name}/${segment}${ending}`);
}

describe("Files of a node's newest segment that are gone", () => {
  it("are fetched by it from the others, whatever of the segment before is gone too.", async () => {
    const parts = await written();
    const { cluster, backups } = parts;
    const [at] = backups;
    for (const ofNewest of FILES.slice(1)) {
      for (const ofBefore of FILES) {
        const where = `${ofNewest} and before it ${ofBefore}`;
        cluster.kill(at);
        const { disk } = cluster.nodes[at]!;
        await removeOf(disk, 2, ofBefore);
        await removeOf(disk, 1, ofNewest);
        await cluster.startNode(at);
        const group = await openedOn(parts, at);
        await cluster.until(() => group.replica?.status === "normal");
        assert.equal(await damagesOn(parts, at), 0, where);
        await equalEverywhere(parts);
      }
    }
    await cluster.stop();
  });

  it("come back from the one node that has them, when the two others lost them at once.", async () => {
    for (const isKept of ["primary", "backup"] as const) {
      const parts = await written();
      const { cluster, primary, backups } = parts;
      const keeper = isKept === "primary" ? primary : backups[0];
      const others = [0, 1, 2].filter((at) => at !== keeper);
      for (const at of others) {
        cluster.kill(at);
        await removeOf(cluster.nodes[at]!.disk, 2, [".log"]);
        await removeOf(cluster.nodes[at]!.disk, 1, [".log", ".ops"]);
      }
      await Promise.all(others.map((at) => cluster.startNode(at)));
      for (const at of [0, 1, 2])
        await cluster.until(() => cluster.groupNow(at, 0)?.replica?.status === "normal");
      for (const at of others) assert.equal(await damagesOn(parts, at), 0);
      await equalEverywhere(parts);
      assert.equal((await shownBy(parts, others[0] ?? 0, 900n)).texts.at(-1), "m19");
      await cluster.stop();
    }
  });

  it("are no reason to do so where bits of what is left changed; it answers for no stored offset then.", async () => {
    const parts = await smallCluster();
    const { cluster, client, backups } = parts;
    const [at] = backups;
    await cluster.drive(fillSegments(client, 1));
    await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 0)));
    await cluster.drive(fillSegments(client, 1));
    await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 4)));
    await cluster.until(() => cluster.groupNow(at, 0)?.partition?.consumerOffset(1, 7) === 4);
    cluster.kill(at);
    const { disk } = cluster.nodes[at]!;
    await flip(".log", -2, 5000)(disk);
    await removeOf(disk, 1, [".log", ".ops"]);
    await cluster.startNode(at);
    await openedOn(parts, at);
    await cluster.clock.run(30_000);
    assert.notEqual(cluster.groupNow(at, 0)?.replica?.status, "normal", "somebody should look at that disk");
    const reader = await cluster.login(at, 300n);
    const consumer = { kind: "consumer", id: toIdentifier(7) } as const;
    const next = pollBody({ consumer, strategy: { kind: "next" } });
    const place = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
    const asked = encodeGetConsumerOffset({ ...place, consumer });
    for (const [command, body] of [
      ["GetConsumerOffset", asked],
      ["PollMessages", next],
    ] as const) {
      const { code } = await cluster.drive(reader.command(command, body));
      assert.equal(code, ErrorCode.PartitionDamaged, command);
    }
    assert.ok("outcome" in (await repair(parts, at)));
    const answered = decodeGetConsumerOffsetReply(await cluster.drive(reader.ok("GetConsumerOffset", asked)));
    assert.equal(answered?.storedOffset, 4);
    await cluster.stop();
  });

  it("are not the only ones that are missing where they told of a removal: nothing is called damaged.", async () => {
    const parts = await written();
    const { cluster, client, backups } = parts;
    const [at] = backups;
    const namesOn = async () => {
      const { disk } = cluster.nodes[at]!;
      const [folder] = await disk.readDirectory(FOLDER);
      return (await disk.readDirectory(`${FOLDER}/${folder?.name}`)).map(({ name }) => name).sort();
    };
    const [first = ""] = await namesOn();
    await cluster.drive(client.ok("DeleteSegments", deleteSegmentsBody(1)));
    for (let names = await namesOn(); names.includes(first); names = await namesOn())
      await cluster.clock.run(20);
    cluster.kill(at);
    await removeOf(cluster.nodes[at]!.disk, 1, [".log", ".ops"]);
    cluster.passes = (packet) => !isPartitions(packet);
    await cluster.startNode(at);
    await openedOn(parts, at);
    const reader = await cluster.login(at, 300n);
    const { code } = await cluster.drive(reader.command("PollMessages", pollBody({ count: 100 })));
    assert.equal(code, ErrorCode.TransientNotAccepted);
    reader.close();
    cluster.passes = () => true;
    await cluster.until(() => cluster.groupNow(at, 0)?.replica?.status === "normal");
    assert.equal(await damagesOn(parts, at), 0);
    await equalEverywhere(parts);
    await cluster.stop();
  });
});
