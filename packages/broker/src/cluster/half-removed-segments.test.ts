import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { SimDisk } from "@millrace/platform/sim";
import { encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { isPartitions, type SmallCluster, smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { deleteSegmentsBody, fillSegments } from "../testing/test-topics.ts";

const FOLDER = "streams/0/topics/0/partitions";
const PURGE = encodePurgeTopic({ stream: toIdentifier(0), topic: toIdentifier(0) });
const LOST = "Files of a partition are gone;";
/** Calls to the partition's files within which a removal comes to its end. */
const STEPS_MAX = 100;

/** Takes something of the partition away, with something left. */
type Removal = (parts: SmallCluster) => Promise<void>;

const REMOVALS: Readonly<Record<string, Removal>> = {
  "a purge": async ({ cluster, client }) => {
    await cluster.drive(client.ok("PurgeTopic", PURGE));
    await cluster.drive(client.ok("SendMessages", sendBody(["behind it"])));
  },
  "a deletion of segments": async ({ cluster, client }) => {
    await cluster.drive(client.ok("DeleteSegments", deleteSegmentsBody(1)));
    await cluster.drive(client.ok("SendMessages", sendBody(["behind it"])));
  },
};

async function filesOf(disk: SimDisk): Promise<string[]> {
  const [folder] = await disk.readDirectory(FOLDER);
  const path = `${FOLDER}/${folder?.name}`;
  return (await disk.readDirectory(path)).map(({ name }) => `${path}/${name}`);
}

/** Orders segments as they were begun: by purges, then by offset. */
function age(path: string): string {
  const [, offset = "", generation = "0"] = /(\d{20})(?:\.g(\d+))?\.\w+$/.exec(path) ?? [];
  return `${generation.padStart(20, "0")}.${offset}`;
}

/** Takes the newest segment away; answers whether what is left has no messages in its newest one. */
async function loseNewest(disk: SimDisk): Promise<boolean> {
  const newest = (await filesOf(disk)).map(age).sort().at(-1);
  for (const path of await filesOf(disk)) if (age(path) === newest) await disk.removeFile(path);
  const left = await filesOf(disk);
  const last = left.map(age).sort().at(-1);
  const kinds = left.filter((path) => age(path) === last).map((path) => path.slice(-4));
  return kinds.includes(".ops") && !kinds.includes(".log");
}

/** One node is killed at a call to the partition's files while something is removed, or when that is over. */
async function killedAt(parts: SmallCluster, at: number, step: number, removal: Removal): Promise<boolean> {
  const { cluster } = parts;
  let left = step;
  cluster.nodes[at]?.disk.setFaults(({ path }) => {
    if (path.startsWith(FOLDER)) left -= 1;
    if (left === -1) cluster.kill(at);
    return undefined;
  });
  await removal(parts);
  await cluster.clock.run(100);
  const isOver = left >= 0;
  if (isOver) cluster.kill(at);
  cluster.nodes[at]?.disk.setFaults(undefined);
  return isOver;
}

/** What a node answers until it takes part again, then what it shows. */
async function comesBack({ cluster }: SmallCluster, at: number, op: number) {
  await cluster.startNode(at);
  const reader = await cluster.login(at, 300n);
  const codes = new Set<number>();
  for (let tries = 0; ; tries += 1) {
    assert.ok(tries < 1000, "it comes back by itself");
    const { code, payload } = await cluster.drive(reader.command("PollMessages", pollBody({ count: 100 })));
    codes.add(code);
    const group = cluster.groupNow(at, 0);
    if (code === 0 && group?.replica?.status === "normal" && group.partition?.committedOp === op) {
      reader.close();
      return { codes, texts: polled(payload).messages.map(({ text }) => text) };
    }
    await cluster.clock.run(20);
  }
}

describe("A node that is killed at any step of a removal, and whose newest segment is gone then,", () => {
  for (const [what, removal] of Object.entries(REMOVALS)) {
    it(`takes part again by itself, and refuses nothing as damaged (${what})`, async () => {
      const lines: Line[] = [];
      const parts = await smallCluster(1, { log: recordedLog(lines) });
      const { cluster, client, primary, backups } = parts;
      const [at] = backups;
      let halfRemoved = 0;
      for (let step = 0, isOver = false; !isOver; step += 1) {
        assert.ok(step < STEPS_MAX, "it comes to an end");
        await cluster.drive(fillSegments(client, 1));
        const opOf = (one: number) => cluster.groupNow(one, 0)?.partition?.committedOp ?? 0;
        await cluster.until(() => opOf(at) === opOf(primary));
        isOver = await killedAt(parts, at, step, removal);
        const disk = cluster.nodes[at]?.disk;
        assert.ok(disk !== undefined);
        if (await loseNewest(disk)) halfRemoved += 1;
        const { codes, texts } = await comesBack(parts, at, opOf(primary));
        const answers = [...codes].filter((code) => code !== 0 && code !== ErrorCode.TransientNotAccepted);
        assert.deepEqual(answers, [], `step ${step}`);
        assert.equal(texts.at(-1), "behind it", `step ${step}`);
        const reader = await cluster.login(primary, 301n);
        const expected = await cluster.drive(reader.ok("PollMessages", pollBody({ count: 100 })));
        assert.deepEqual(
          texts,
          polled(expected).messages.map(({ text }) => text),
        );
        reader.close();
      }
      assert.ok(halfRemoved > 0, "some removals were under way");
      assert.ok(lines.filter(({ message }) => message.startsWith(LOST)).length >= halfRemoved);
      await cluster.stop();
    });
  }
});

it("A node that lost its log so does not help to vote away what it acknowledged, also killed once more.", async () => {
  const parts = await smallCluster();
  const { cluster, client, primary, backups } = parts;
  const [late, lost] = backups;
  await cluster.drive(fillSegments(client, 1));
  const ops = () => [0, 1, 2].map((at) => cluster.groupNow(at, 0)?.partition?.committedOp);
  await cluster.until(() => new Set(ops()).size === 1);
  cluster.passes = (packet) => !isPartitions(packet) || (packet.to !== late && packet.from !== late);
  const isGone = async () => {
    const names = await filesOf(cluster.nodes[lost]!.disk);
    return names.some((path) => path.endsWith(".ops") && !names.includes(path.replace(/ops$/, "log")));
  };
  const { disk } = cluster.nodes[lost]!;
  disk.setFaults(({ kind, path }) => {
    // The messages that were purged are gone, and what tells whose they were is to stay.
    const isRefused = kind === "remove" && path.startsWith(FOLDER) && path.endsWith(".ops");
    return isRefused ? { kind: "error", errno: "EIO" } : undefined;
  });
  await REMOVALS["a purge"]?.(parts);
  await cluster.clock.run(1000);
  assert.ok(await isGone());
  cluster.passes = (packet) => !isPartitions(packet);
  cluster.kill(lost);
  cluster.nodes[lost]?.disk.setFaults(undefined);
  assert.ok(await loseNewest(cluster.nodes[lost]!.disk));
  for (let start = 0; start < 2; start += 1) {
    await cluster.startNode(lost);
    const group = await cluster.group(lost, 0);
    assert.ok(group.replica?.stateAwaited !== undefined);
    if (start === 0) cluster.kill(lost);
  }
  cluster.kill(primary);
  cluster.passes = () => true;
  await cluster.clock.run(30_000);
  for (const at of backups) assert.equal(cluster.groupNow(at, 0)?.isPrimary, false, `node ${at}`);
  await cluster.startNode(primary);
  for (const at of [0, 1, 2]) {
    await cluster.until(() => cluster.groupNow(at, 0)?.replica?.status === "normal");
    await cluster.until(() => new Set(ops()).size === 1);
    const reader = await cluster.login(at, BigInt(400 + at));
    const { messages } = polled(await cluster.drive(reader.ok("PollMessages", pollBody({ count: 10 }))));
    assert.deepEqual(
      messages.map(({ text }) => text),
      ["behind it"],
      `node ${at}`,
    );
  }
  await cluster.stop();
});
