import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import type { Packet } from "@millrace/platform/sim";
import {
  encodeCreateConsumerGroup,
  encodeCreatePartitions,
  encodeCreateTopic,
  encodeDeleteConsumerGroup,
  encodeDeletePartitions,
  encodeDeleteTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import type { BrokerConfig } from "../broker-config.ts";
import { GROUP_KIND } from "../consumer-groups/group-kind.ts";
import { isPartitions, newWriter } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { commit, createGroup, GROUP, join, pollGroup, sendTo, stored } from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const TOPIC = { stream: GROUP.stream, topic: GROUP.topic };
const DELETE_GROUP = encodeDeleteConsumerGroup(GROUP);
const CREATE_GROUP = encodeCreateConsumerGroup({ ...GROUP, name: "g" });
const CREATE_TOPIC = encodeCreateTopic({
  ...{ stream: GROUP.stream, name: "t", partitionsCount: 1, options: NO_OPTIONS },
});
/** Simulated milliseconds after which every node has heard everything, and has looked for what is left. */
const SETTLED_MS = 65_000;

/** A group whose member, on a backup, has read four of five messages and said so. */
async function withMember(config: Partial<BrokerConfig> = {}) {
  const cluster = await TestCluster.start(3, { config });
  const primary = await cluster.metadataPrimary();
  const [one, other] = [0, 1, 2].filter((at) => at !== primary) as [number, number];
  const root = await cluster.login(primary, 1n);
  await cluster.drive(createGroup(root, 1));
  await cluster.drive(sendTo(root, 0, 5));
  const member = await cluster.login(one, 2n);
  await cluster.drive(join(member));
  await cluster.clock.run(1000);
  assert.equal((await cluster.drive(pollGroup(member, 0))).messages.length, 5);
  assert.equal(await cluster.drive(commit(member, 0, 3)), 0);
  return { cluster, primary, one, other, backups: [one, other] as const, root, member };
}

const isMetadata = (packet: Packet) => !isPartitions(packet);

/** Groups of which a node's partition 0 holds an offset. */
const heldBy = (cluster: TestCluster, at: number) =>
  cluster.groupNow(at, 0)?.partition?.consumerOffsetIds(GROUP_KIND);

/** What a new member of the group reads first on a node. */
async function firstReadOn(cluster: TestCluster, at: number, client: bigint) {
  const member = await cluster.login(at, client);
  await cluster.drive(join(member));
  const before = await cluster.drive(stored(member, 0));
  const { messages } = await cluster.drive(pollGroup(member, 0));
  member.close();
  return { before, first: messages[0]?.offset };
}

const BEGINNING = { before: undefined, first: 0 };

async function deleteAndCreate(cluster: TestCluster, root: TestClient): Promise<void> {
  await cluster.drive(root.ok("DeleteConsumerGroup", DELETE_GROUP));
  await cluster.drive(root.ok("CreateConsumerGroup", CREATE_GROUP));
}

describe("A consumer group that was deleted and made anew under its name", () => {
  it("begins at the beginning, through a node that has not heard of it too, and behind another leader.", async () => {
    const { cluster, root, one, other, primary } = await withMember();
    cluster.passes = (packet) => packet.to !== one || !isMetadata(packet);
    await deleteAndCreate(cluster, root);
    const behind = cluster.broker(one).shard.catalog;
    assert.notEqual(behind.findGroup({ streamId: 0, topicId: 0, groupId: 0 }), undefined);
    cluster.passes = () => true;
    assert.deepEqual(await firstReadOn(cluster, one, 10n), BEGINNING);
    cluster.kill(primary);
    await newWriter(cluster, [one, other]);
    for (const at of [one, other])
      assert.deepEqual(await firstReadOn(cluster, at, BigInt(20 + at)), BEGINNING);
    await cluster.stop();
  });

  it("begins so where every node has been killed and started since.", async () => {
    const { cluster, root } = await withMember();
    await deleteAndCreate(cluster, root);
    for (const at of [0, 1, 2]) cluster.kill(at);
    for (const at of [0, 1, 2]) await cluster.startNode(at);
    await newWriter(cluster, [0, 1, 2]);
    for (const at of [0, 1, 2]) assert.deepEqual(await firstReadOn(cluster, at, BigInt(20 + at)), BEGINNING);
    await cluster.stop();
  });
});

describe("The offset of a consumer group that is gone", () => {
  it("is not stored through a node that has not heard of it, where the leader has.", async () => {
    const { cluster, root, one, member } = await withMember();
    cluster.passes = (packet) => packet.to !== one || !isMetadata(packet);
    await cluster.drive(root.ok("DeleteConsumerGroup", DELETE_GROUP));
    assert.equal(await cluster.drive(commit(member, 0, 4)), ErrorCode.ConsumerGroupIdNotFound);
    const poll = { ...TOPIC, consumer: { kind: "group", id: toIdentifier("g") }, partitionId: 0 } as const;
    const read = member.command(
      "PollMessages",
      pollBody({ ...poll, strategy: { kind: "first" }, autoCommit: true }),
    );
    assert.equal((await cluster.drive(read)).code, ErrorCode.ConsumerGroupIdNotFound);
    cluster.passes = () => true;
    await cluster.clock.run(SETTLED_MS);
    for (const at of [0, 1, 2]) assert.deepEqual(heldBy(cluster, at), [], `node ${at}`);
    await cluster.stop();
  });

  it("goes also where the leader died that would have removed it.", async () => {
    const { cluster, root, primary, backups } = await withMember();
    const isCut = (packet: Packet) => isPartitions(packet) && packet.from === primary;
    cluster.passes = (packet) => !isCut(packet);
    void root.command("DeleteConsumerGroup", DELETE_GROUP);
    const knows = (at: number) =>
      cluster.broker(at).shard.catalog.findGroup({ streamId: 0, topicId: 0, groupId: 0 }) === undefined;
    await cluster.until(() => backups.every(knows));
    cluster.kill(primary);
    cluster.passes = () => true;
    await newWriter(cluster, backups);
    await cluster.clock.run(SETTLED_MS);
    for (const at of backups) assert.deepEqual(heldBy(cluster, at), [], `node ${at}`);
    await cluster.stop();
  });

  it("is kept where the leader has not heard of the group yet.", async () => {
    const { cluster, root, one, primary, other } = await withMember();
    cluster.passes = (packet) => packet.from !== primary || !isPartitions(packet);
    const writer = await newWriter(cluster, [one, other]);
    const elsewhere = writer.at === one ? other : one;
    cluster.passes = (packet) => packet.to !== writer.at || !isMetadata(packet);
    await cluster.drive(root.ok("CreateConsumerGroup", encodeCreateConsumerGroup({ ...GROUP, name: "h" })));
    await cluster.clock.run(1000);
    const { partition } = cluster.groupNow(writer.at, 0) ?? {};
    const key = { kind: 2, id: 1 } as const;
    const handle = [...cluster.broker(elsewhere).shard.partitions.handles()][0];
    const op = { client: 9n, request: 1n, user: 0, isNumbered: false, refusal: undefined, key, offset: 2n };
    const code = await cluster.drive(
      new Promise<number>((resolve) =>
        handle?.storeOffset({ ...op, committed: () => resolve(0), failed: resolve }),
      ),
    );
    assert.equal(code, 0);
    await cluster.clock.run(2 * SETTLED_MS);
    assert.equal(partition?.consumerOffset(GROUP_KIND, 1), 2);
    await cluster.stop();
  });
});

describe("What was deleted and made anew under its place", () => {
  const remakes = {
    topic: async (client: TestClient) => {
      await client.ok("DeleteTopic", encodeDeleteTopic(TOPIC));
      await client.ok("CreateTopic", CREATE_TOPIC);
      await client.ok("CreateConsumerGroup", CREATE_GROUP);
    },
    partition: async (client: TestClient) => {
      await client.ok("DeletePartitions", encodeDeletePartitions({ ...TOPIC, partitionsCount: 1 }));
      await client.ok("CreatePartitions", encodeCreatePartitions({ ...TOPIC, partitionsCount: 1 }));
    },
  };
  for (const [what, remake] of Object.entries(remakes)) {
    it(`holds nothing of the ${what} before, also behind another leader and for a node that lagged.`, async () => {
      const { cluster, root, one, other, primary } = await withMember();
      cluster.passes = (packet) => packet.to !== one;
      await cluster.drive(remake(root));
      const late = await cluster.login(other, 40n);
      await cluster.drive(late.ok("SendMessages", sendBody(["new"])));
      cluster.passes = () => true;
      await cluster.clock.run(3000);
      cluster.kill(primary);
      await newWriter(cluster, [one, other]);
      for (const at of [one, other]) {
        const reader = await cluster.login(at, BigInt(50 + at));
        await cluster.drive(join(reader));
        assert.equal(await cluster.drive(stored(reader, 0)), undefined);
        const { messages } = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
        assert.deepEqual(messages.map(({ text, offset }) => [text, offset]), [["new", 0]]); // biome-ignore format: one line
        reader.close();
        await cluster.clock.run(1000);
      }
      await cluster.stop();
    });
  }

  for (const waits of [true, false]) {
    const how = waits ? "" : ", also where it was made anew before the deletion was answered";
    it(`is not what a message goes to through a node that leads the partition before and lags${how}.`, async () => {
      const { cluster, root, primary, other, writer } = await ledElsewhere();
      cluster.passes = (packet) => packet.to !== writer.at || !isMetadata(packet);
      const second = await cluster.login(primary, 70n);
      const deleted = root.ok("DeleteTopic", encodeDeleteTopic(TOPIC));
      if (waits) await cluster.drive(deleted);
      await cluster.drive(second.ok("CreateTopic", CREATE_TOPIC));
      const sent = writer.client.command("SendMessages", sendBody(["to the one before"]));
      await cluster.clock.run(2000);
      cluster.passes = () => true;
      const { code } = await cluster.drive(sent);
      await cluster.clock.run(SETTLED_MS);
      const reader = await cluster.login(other, 60n);
      const { messages } = polled(await cluster.drive(reader.ok("PollMessages", pollBody())));
      assert.equal(messages.length, code === 0 ? 1 : 0, `what is acknowledged is there: ${code}`);
      await cluster.stop();
    });
  }
});

/** The partition is led by a node that does not lead the metadata. */
async function ledElsewhere(config: Partial<BrokerConfig> = {}) {
  const parts = await withMember(config);
  const { cluster, primary, backups } = parts;
  cluster.passes = (packet) => packet.from !== primary || !isPartitions(packet);
  const writer = await newWriter(cluster, backups);
  cluster.passes = () => true;
  await cluster.clock.run(700);
  assert.equal(await cluster.metadataPrimary(), primary);
  return { ...parts, writer };
}

describe("A deletion of a topic", () => {
  it("is not confirmed while two nodes that have not heard of it can take messages, nor is what is made in its place.", async () => {
    const { cluster, root, primary, writer } = await ledElsewhere({ admissionTimeoutMs: 100 });
    const second = await cluster.login(primary, 70n);
    const isCommit = ({ bytes }: Packet) =>
      bytes[60] === ReplicaCommand.commit || bytes[60] === ReplicaCommand.commits;
    cluster.passes = (packet) => !isMetadata(packet) || (packet.to !== writer.at && !isCommit(packet));
    const numbers = [root.nextNumber, second.nextNumber] as const;
    const ask = async () => {
      const deleted = root.command("DeleteTopic", encodeDeleteTopic(TOPIC), { request: numbers[0] });
      const made = second.command("CreateTopic", CREATE_TOPIC, { request: numbers[1] });
      const answers = await cluster.drive(Promise.all([deleted, made]));
      return answers.map(({ code }) => code);
    };
    const { TransientNotCommitted } = ErrorCode;
    for (const how of ["first", "repeated"])
      assert.deepEqual(await ask(), [TransientNotCommitted, TransientNotCommitted], how);
    await cluster.drive(writer.client.ok("SendMessages", sendBody(["before the answer"])));
    cluster.passes = (packet) => !isMetadata(packet) || packet.to !== writer.at;
    assert.deepEqual(await ask(), [0, 0]);
    const late = writer.client.command("SendMessages", sendBody(["behind the answer"]));
    await cluster.clock.run(2000);
    cluster.passes = () => true;
    assert.notEqual((await cluster.drive(late)).code, 0);
    await cluster.stop();
  });

  it("is not forgotten by a node that executed it and is started anew, beside one that has not heard of it.", async () => {
    const { cluster, root, primary, backups, writer } = await ledElsewhere();
    const executed = backups.find((at) => at !== writer.at) ?? 0;
    cluster.passes = (packet) => packet.to !== writer.at || !isMetadata(packet);
    await cluster.drive(root.ok("DeleteTopic", encodeDeleteTopic(TOPIC)));
    cluster.kill(executed);
    cluster.kill(primary);
    cluster.passes = () => true;
    const started = cluster.openNode(executed);
    const { code } = await cluster.drive(
      writer.client.command("SendMessages", sendBody(["behind the answer"])),
    );
    await cluster.drive(started);
    await cluster.clock.run(SETTLED_MS);
    for (const at of backups) assert.equal(cluster.groupNow(at, 0), undefined, `node ${at}`);
    assert.notEqual(code, 0);
    await cluster.stop();
  });

  it("costs a way to the others and back, also where one of them is away.", async () => {
    const { cluster, root, one, primary } = await withMember();
    cluster.kill(one);
    assert.equal(await cluster.metadataPrimary(), primary);
    const begunMs = cluster.clock.monotonicMs();
    await cluster.drive(root.ok("DeleteTopic", encodeDeleteTopic(TOPIC)));
    assert.ok(cluster.clock.monotonicMs() - begunMs < 20);
    await cluster.stop();
  });
});
