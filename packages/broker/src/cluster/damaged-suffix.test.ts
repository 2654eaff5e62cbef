import assert from "node:assert/strict";
import { it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { isPartitions } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import {
  damagesOn,
  equalEverywhere,
  FOLDER,
  openedOn,
  repair,
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
  const reader = await cluster.login(at, 300n);
  const from = (offset: number) =>
    pollBody({ strategy: { kind: "offset", offset: BigInt(offset) }, count: 10 });
  const next = before.committedNextOffset;
  const shown = polled(await cluster.drive(reader.ok("PollMessages", from(next - 1))));
  assert.deepEqual(shown.messages.map(({ text }) => text), ["m19"]); // biome-ignore format: one line
  const end = await cluster.drive(reader.command("PollMessages", from(next)));
  assert.equal(
    end.code,
    ErrorCode.PartitionDamaged,
    "it may be committed elsewhere: empty would say it is not",
  );
  reader.close();
  cluster.passes = () => true;
  await cluster.clock.run(5000);
  assert.equal(group.replica, undefined, "it takes no part");
  const reply = await repair(parts, at);
  assert.equal("outcome" in reply && reply.outcome, "fetched");
  assert.equal(await damagesOn(parts, at), 0);
  await equalEverywhere(parts);
  await cluster.stop();
});
