import assert from "node:assert/strict";
import { it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { isPartitions } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import {
  damagesOn,
  equalEverywhere,
  FOLDER,
  openedOn,
  repair,
  shownBy,
  written,
} from "./damaged-partitions-fixture.test.ts";

it("A replica with damage in an operation that may not be committed shows what is, names it and is repaired.", async () => {
  const parts = await written();
  const { cluster, client, backups } = parts;
  const [at] = backups;
  await cluster.drive(client.ok("SendMessages", sendBody(["the last one"])));
  const before = cluster.groupNow(at, 0)?.partition;
  await cluster.until(() => before?.lastOp === cluster.groupNow(parts.primary, 0)?.partition?.lastOp);
  assert.equal(
    before?.committedOp,
    (before?.lastOp ?? 0) - 1,
    "nobody has told it that the last is committed",
  );
  cluster.kill(at);
  const { disk } = cluster.nodes[at]!;
  const [folder] = await disk.readDirectory(FOLDER);
  const path = `${FOLDER}/${folder?.name}`;
  const names = (await disk.readDirectory(path))
    .map(({ name }) => name)
    .filter((one) => one.endsWith(".log"));
  const newest = `${path}/${names.toSorted().at(-1)}`;
  disk.flipBit(newest, 8 * (((await disk.stat(newest))?.length ?? 0) - 5));
  cluster.passes = (packet) => !isPartitions(packet);
  await cluster.startNode(at);
  const group = await openedOn(parts, at);
  assert.ok(isCodedError(group.fault, ErrorCode.PartitionDamaged));
  assert.ok((await damagesOn(parts, at)) > 0);
  assert.equal((await shownBy(parts, at)).texts.at(-1), "m19");
  cluster.passes = () => true;
  await cluster.clock.run(5000);
  assert.equal(group.replica, undefined, "it takes no part");
  const reply = await repair(parts, at);
  assert.equal("outcome" in reply && reply.outcome, "fetched");
  assert.equal(await damagesOn(parts, at), 0);
  await equalEverywhere(parts);
  await cluster.stop();
});
