import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { SimDisk } from "@millrace/platform/sim";
import { encodeDeleteTopic, encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { fillSegments } from "../testing/test-topics.ts";

const FOLDER = "streams/0/topics/0/partitions";
const ASIDE = "aside";
const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };
const PURGE = encodePurgeTopic(TOPIC);
const DELETE = encodeDeleteTopic(TOPIC);

/** Puts the newest segment aside, and the messages of the one before. Returns what puts them back. */
async function loseLog(disk: SimDisk): Promise<(later: SimDisk) => Promise<void>> {
  const [folder] = await disk.readDirectory(FOLDER);
  const path = `${FOLDER}/${folder?.name}`;
  const names = (await disk.readDirectory(path)).map(({ name }) => name).sort();
  const [before, newest] = [...new Set(names.map((name) => name.slice(0, 20)))].slice(-2);
  const gone = names.filter((name) => name.startsWith(newest ?? "") || name === `${before}.log`);
  await disk.makeDirectory(ASIDE);
  const move = async (on: SimDisk, from: string, to: string) => {
    for (const name of gone) await on.rename(`${from}/${name}`, `${to}/${name}`);
    for (const folder of [from, to]) await on.syncDirectory(folder);
  };
  await move(disk, path, ASIDE);
  return (later) => move(later, ASIDE, path);
}

/** Three segments everywhere. */
async function written(): Promise<SmallCluster> {
  const parts = await smallCluster();
  const { cluster, client } = parts;
  await cluster.drive(fillSegments(client, 3));
  const ops = () => [0, 1, 2].map((at) => cluster.groupNow(at, 0)?.partition?.committedOp);
  await cluster.until(() => new Set(ops()).size === 1);
  return parts;
}

/** Starts a node again whose log is gone. */
async function loses({ cluster }: SmallCluster, at: number): Promise<void> {
  cluster.kill(at);
  await loseLog(cluster.nodes[at]!.disk);
  await cluster.startNode(at);
  await cluster.until(() => cluster.groupNow(at, 0)?.isLost);
}

describe("A replica that lost its log and waits for another's state", () => {
  it("fetches it once its full disk has space, though the topic was purged through its node.", async () => {
    const parts = await written();
    const { cluster, backups } = parts;
    const [at] = backups;
    cluster.nodes[at]?.disk.setFaults(({ kind, path }) =>
      kind === "write" && path.startsWith("incoming/") ? { kind: "error", errno: "ENOSPC" } : undefined,
    );
    await loses(parts, at);
    const client = await cluster.login(at, 300n);
    await cluster.drive(client.ok("PurgeTopic", PURGE));
    await cluster.clock.run(1000);
    assert.equal(cluster.groupNow(at, 0)?.isLost, true);
    cluster.nodes[at]?.disk.setFaults(undefined);
    await cluster.until(() => cluster.groupNow(at, 0)?.isLost === false);
    await cluster.drive(client.ok("SendMessages", sendBody(["behind it"])));
    const { messages } = polled(await cluster.drive(client.ok("PollMessages", pollBody({ count: 10 }))));
    assert.deepEqual(
      messages.map(({ text }) => text),
      ["behind it"],
    );
    await cluster.stop();
  });

  it("says so to whoever purges the topic, when all others lost theirs too; the topic can be deleted.", async () => {
    const parts = await written();
    const { cluster, client } = parts;
    client.close();
    for (const at of [0, 1, 2]) cluster.kill(at);
    for (const at of [0, 1, 2]) await loseLog(cluster.nodes[at]!.disk);
    await Promise.all([0, 1, 2].map((at) => cluster.startNode(at)));
    for (const at of [0, 1, 2]) await cluster.until(() => cluster.groupNow(at, 0)?.isLost);
    const again = await cluster.login(await cluster.metadataPrimary(), 300n);
    for (const [command, body] of [
      ["SendMessages", sendBody(["one"])],
      ["PollMessages", pollBody({ count: 1 })],
    ] as const) {
      const { code } = await cluster.drive(again.command(command, body));
      assert.equal(code, ErrorCode.TransientNotAccepted, command);
    }
    const startMs = cluster.clock.monotonicMs();
    const { code } = await cluster.drive(again.command("PurgeTopic", PURGE));
    assert.equal(code, ErrorCode.TransientNotCommitted);
    assert.ok(cluster.clock.monotonicMs() - startMs < 15_000);
    await cluster.drive(again.ok("DeleteTopic", DELETE));
    await cluster.stop();
  });

  it("gets it from the one node that gets its files back, when all of them lost theirs.", async () => {
    const parts = await written();
    const { cluster, client } = parts;
    client.close();
    for (const at of [0, 1, 2]) cluster.kill(at);
    const restores = await Promise.all([0, 1, 2].map((at) => loseLog(cluster.nodes[at]!.disk)));
    await Promise.all([0, 1, 2].map((at) => cluster.startNode(at)));
    for (const at of [0, 1, 2]) await cluster.until(() => cluster.groupNow(at, 0)?.isLost);
    cluster.kill(1);
    await restores[1]?.(cluster.nodes[1]!.disk);
    await cluster.startNode(1);
    for (const at of [0, 1, 2])
      await cluster.until(() => cluster.groupNow(at, 0)?.replica?.status === "normal");
    const again = await cluster.login(0, 300n);
    await cluster.drive(again.ok("SendMessages", sendBody(["behind it"])));
    const { messages } = polled(await cluster.drive(again.ok("PollMessages", pollBody({ count: 10 }))));
    assert.deepEqual(
      messages.slice(-2).map(({ text }) => text),
      ["tail", "behind it"],
    );
    await cluster.stop();
  });
});
