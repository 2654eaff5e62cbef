import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import { encodePurgeTopic, toIdentifier } from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { fillSegments, storeBody } from "../../testing/test-topics.ts";
import { Lagging } from "./transfer-fixture.test.ts";

const TOPIC = { stream: toIdentifier(0), topic: toIdentifier(0) };
/** Bytes of a frame before those of a part. */
const CHUNK_HEAD_LENGTH = 256;
const FOLDER = "streams/0/topics/0/partitions";

function commandOf({ bytes }: Packet): number | undefined {
  return bytes[60];
}

describe("A partition's replica that lacks more than its peers' logs hold", () => {
  for (const key of [undefined, new Uint8Array(32).fill(3)])
    it(`gets their state when segments were deleted, with stored offsets and the log behind it (${key === undefined ? "in clear" : "encrypted"}).`, async () => {
      const lagging = await Lagging.start({ key });
      const { cluster, client, at } = lagging;
      await lagging.forget();
      await cluster.drive(client.ok("StoreConsumerOffset", storeBody(7, 6)));
      await lagging.send("behind");
      lagging.heal();
      await lagging.caughtUp();
      assert.equal(lagging.fetched, 1);
      assert.equal((await cluster.group(at, 0)).partition?.consumerOffset(1, 7), 6);
      await lagging.send("later");
      await lagging.caughtUp();
      assert.equal(lagging.fetched, 1, "the rest is ordinary repair");
      await cluster.stop();
    });

  it("gets their state when they were purged.", async () => {
    const lagging = await Lagging.start();
    const { cluster, client } = lagging;
    await lagging.send("old");
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    await lagging.send("new");
    lagging.heal();
    await lagging.caughtUp();
    assert.equal(lagging.fetched, 1);
    await cluster.stop();
  });

  it("gets their state when retention removed segments.", async () => {
    const messageCleaner = { isEnabled: true, intervalMs: 1000 };
    const lagging = await Lagging.start({ config: { messageCleaner } }, { messageExpiry: 5_000_000n });
    const { cluster, client, primary } = lagging;
    await cluster.drive(fillSegments(client, 3));
    await cluster.until(() => (cluster.groupNow(primary, 0)?.partition?.firstOffset ?? 0) > 0);
    await lagging.send("kept");
    lagging.heal();
    await lagging.caughtUp();
    assert.equal(lagging.fetched, 1);
    await cluster.stop();
  });

  it("gets that of many partitions, four at a time.", async () => {
    const partitionsCount = 12;
    const lagging = await Lagging.start({}, { partitionsCount });
    const { cluster, client, at, primary } = lagging;
    const partitions = Array.from({ length: partitionsCount }, (_, partitionId) => partitionId);
    const sendToAll = async (text: string) => {
      for (const partitionId of partitions) {
        const body = sendBody([text], { partitioning: { kind: "partition", partitionId } });
        await cluster.drive(client.ok("SendMessages", body));
      }
    };
    await sendToAll("old");
    await cluster.drive(client.ok("PurgeTopic", encodePurgeTopic(TOPIC)));
    await sendToAll("new");
    const underWay = new Set<number>();
    let most = 0;
    cluster.passes = ({ from, bytes }) => {
      const transfer = new DataView(bytes.buffer, bytes.byteOffset).getUint32(160, true);
      if (bytes[60] === ReplicaCommand.stateRequest) underWay.add(transfer);
      if (bytes[60] === ReplicaCommand.stateEnd && from === at) underWay.delete(transfer);
      most = Math.max(most, underWay.size);
      return true;
    };
    await cluster.until(() => lagging.fetched === partitionsCount);
    for (const partitionId of partitions) {
      const [group, model] = [
        await cluster.group(at, partitionId),
        await cluster.group(primary, partitionId),
      ];
      await cluster.until(() => group.partition?.committedOp === model.partition?.committedOp);
      assert.equal(group.partition?.committedNextOffset, 1);
    }
    assert.equal(most, 4);
    await cluster.stop();
  });

  it("answers reads with the old state or the new one, never with parts of both.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at } = lagging;
    const node = cluster.nodes[at];
    assert.ok(node !== undefined);
    lagging.heal();
    const reader = await cluster.login(at, 90n);
    await lagging.send("old");
    await lagging.caughtUp();
    lagging.cutOff();
    await lagging.forget();
    await lagging.send("new");
    node.diskLatencyMaxMs = 3;
    lagging.heal();
    const seen: string[] = [];
    while (lagging.fetched === 0) {
      const answer = await cluster.drive(reader.command("PollMessages", pollBody()));
      seen.push(
        answer.code === 0
          ? polled(answer.payload)
              .messages.map(({ offset }) => offset)
              .join()
          : `${answer.code}`,
      );
    }
    node.diskLatencyMaxMs = 0;
    assert.equal(seen[0], "0", "the old state");
    assert.ok(seen.at(-1)?.startsWith("7,8"), "the new state");
    const others = seen.filter((offsets) => !["0", "7,8", "58"].includes(offsets));
    assert.deepEqual(others, [], "nothing else");
    await lagging.caughtUp();
    await cluster.stop();
  });

  it("gets it after its directory was lost, and is counted on again.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at, other } = lagging;
    lagging.heal();
    await lagging.forget();
    cluster.wipe(at);
    await cluster.startNode(at);
    await lagging.caughtUp();
    assert.equal(lagging.fetched, 1);
    cluster.kill(other);
    await lagging.send("with the one that was filled");
    await lagging.caughtUp();
    await cluster.stop();
  });

  it("keeps what it got through a restart.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at } = lagging;
    await lagging.forget();
    lagging.heal();
    await lagging.caughtUp();
    for (const end of ["stop", "kill", "crash"] as const) {
      if (end === "stop") await cluster.stopNode(at);
      else cluster[end](at);
      await cluster.startNode(at);
      await lagging.caughtUp();
      assert.equal(lagging.fetched, 1, end);
    }
    await cluster.stop();
  });

  it("finishes or begins anew when it is killed, or its power fails, at any step.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at } = lagging;
    let isOver = false;
    for (let step = 0; !isOver; step += 7) {
      await lagging.forget();
      isOver = await lagging.dieInTransfer(step);
      await lagging.caughtUp();
      const left = await cluster.broker(at).shard.platform.disk.readDirectory("incoming");
      assert.deepEqual(left, [], `nothing is left of a transfer that ended at call ${step}`);
      lagging.cutOff();
    }
    lagging.heal();
    await cluster.stop();
  });

  it("uses nothing of a state in which a batch is damaged, and asks another node.", async () => {
    const lagging = await Lagging.start();
    const { cluster, primary } = lagging;
    await lagging.forget();
    await lagging.send("kept");
    const disk = cluster.nodes[primary]?.disk;
    const [folder] = (await disk?.readDirectory(FOLDER)) ?? [];
    const files = (await disk?.readDirectory(`${FOLDER}/${folder?.name}`)) ?? [];
    for (const { name } of files.filter((file) => file.name.endsWith(".log"))) {
      disk?.flipBit(`${FOLDER}/${folder?.name}/${name}`, 8 * 300);
    }
    lagging.heal();
    await cluster.until(() => lagging.fetched === 1);
    assert.ok(lagging.lines.some(({ message }) => message.includes("could not be fetched")));
    await lagging.caughtUp(lagging.other);
    await cluster.stop();
  });

  it("waits for space on a full disk, and goes on then.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at } = lagging;
    await lagging.forget(1);
    await cluster.drive(fillSegments(lagging.client, 1));
    const disk = cluster.nodes[at]?.disk;
    disk?.setSpace(600_000);
    lagging.heal();
    const isRefused = () => lagging.lines.some(({ message }) => message.includes("could not be fetched"));
    await cluster.until(isRefused);
    assert.deepEqual(await disk?.readDirectory("incoming"), [], "what came is let go of");
    disk?.setSpace(Number.POSITIVE_INFINITY);
    await lagging.caughtUp();
    assert.equal(lagging.fetched, 1);
    await cluster.stop();
  });

  it("asks another node when the one that gives falls silent, and again for what was lost.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at, primary } = lagging;
    await lagging.forget();
    let chunks = 0;
    cluster.passes = (packet) => {
      const isChunk = commandOf(packet) === ReplicaCommand.stateChunk;
      if (isChunk) chunks += 1;
      return !isChunk || (packet.from !== primary && chunks % 2 === 0);
    };
    await cluster.until(() => lagging.fetched === 1);
    assert.ok(chunks > 2);
    lagging.heal();
    await lagging.caughtUp(at);
    await cluster.stop();
  });

  it("fetches again nothing of what had come when the one that gave was gone.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at, client } = lagging;
    await lagging.forget();
    await cluster.drive(fillSegments(client, 4));
    const came: { readonly from: number; readonly length: number }[] = [];
    let giver: number | undefined;
    cluster.passes = (packet) => {
      if (packet.to === at && commandOf(packet) === ReplicaCommand.stateChunk) {
        giver ??= packet.from;
        const isCut = packet.from === giver && came.length >= 10;
        if (isCut) return false;
        came.push({ from: packet.from, length: packet.bytes.length - CHUNK_HEAD_LENGTH });
      }
      return true;
    };
    await cluster.until(() => lagging.fetched === 1);
    assert.equal(new Set(came.map(({ from }) => from)).size, 2, "two nodes gave");
    const length = came.reduce((sum, one) => sum + one.length, 0);
    const { facts } =
      lagging.lines.find(({ message }) => message === "The state of a group was fetched.") ?? {};
    assert.ok(Number(facts?.["held"]) > 2_000_000, "most of ten chunks was there");
    assert.ok(length - Number(facts?.["whole"]) < 10_000, "only op records come twice");
    await lagging.caughtUp();
    await cluster.stop();
  });

  it("goes on with the others when the one that gives dies.", async () => {
    const lagging = await Lagging.start();
    const { cluster, at, primary, other } = lagging;
    await lagging.forget();
    let giver: number | undefined;
    cluster.passes = (packet) => {
      if (commandOf(packet) === ReplicaCommand.stateChunk) giver ??= packet.from;
      return true;
    };
    const dead = await cluster.until(() => giver);
    assert.ok(dead === primary || dead === other);
    cluster.kill(dead);
    await cluster.until(() => lagging.fetched === 1);
    await cluster.startNode(dead);
    const groups = [await cluster.group(at, 0), await cluster.group(dead, 0)];
    await cluster.until(() => groups[0]?.partition?.committedOp === groups[1]?.partition?.committedOp);
    await cluster.stop();
  });
});
