import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  decodePollRoutingReply,
  encodeAttachConsumerSession,
  encodeCreatePartitions,
  PARTITION_NOT_OWNED,
  toIdentifier,
} from "@millrace/protocol";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import {
  commit,
  createGroup,
  GROUP_CONSUMER,
  join,
  pollable,
  pollGroup,
  sendTo,
} from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

/** A group of two partitions with messages; its only member is connected to a backup. */
async function memberOnBackup() {
  const cluster = await TestCluster.start();
  const primary = await cluster.metadataPrimary();
  const [one, other] = [0, 1, 2].filter((at) => at !== primary) as [number, number];
  const root = await cluster.login(primary, 1n);
  await cluster.drive(createGroup(root, 2));
  for (const partitionId of [0, 1]) await cluster.drive(sendTo(root, partitionId, 10));
  const member = await cluster.login(one, 2n);
  await cluster.drive(join(member));
  assert.deepEqual(await cluster.drive(pollable(member)), [0, 1]);
  return { cluster, primary, one, other, member };
}

const polledBy = (cluster: TestCluster, client: TestClient, partitionId: number) =>
  cluster.drive(pollGroup(client, partitionId));

async function waitsFor(cluster: TestCluster, client: TestClient, partitions: readonly number[]) {
  for (let ms = 0; ms < 60_000; ms += 50) {
    const now = await cluster.drive(pollable(client));
    if (JSON.stringify(now) === JSON.stringify(partitions)) return;
    await cluster.clock.run(50);
  }
  assert.fail(`the member never had ${partitions}`);
}

/** Partitions of a topic, half of which move when a second member joins. */
const MANY = 300;
/** Hand-overs that one node proposes at once: a quarter of what the metadata group takes. */
const AT_ONCE = 8;

/** Members of the group as a node knows them. */
const membersOf = (cluster: TestCluster, at: number) =>
  cluster.broker(at).shard.catalog.findGroup({ streamId: 0, topicId: 0, groupId: 0 })?.members ?? [];

/** Joins; partition 1, of which the first member has polled ten messages, moves when these are committed. */
async function movesOnceCommitted(
  cluster: TestCluster,
  { first, second }: { readonly first: TestClient; readonly second: TestClient },
): Promise<void> {
  await cluster.drive(join(second));
  await cluster.clock.run(4000);
  assert.equal((await polledBy(cluster, second, 1)).partitionId, PARTITION_NOT_OWNED);
  assert.equal(await cluster.drive(commit(first, 1, 9)), 0);
  await waitsFor(cluster, second, [1]);
}

/** Two clients that may join a group: one at the metadata's primary, one at another node. */
async function membersOnTwoNodes() {
  const cluster = await TestCluster.start();
  const primary = await cluster.metadataPrimary();
  const other = (primary + 1) % 3;
  const root = await cluster.login(primary, 1n);
  const first = await cluster.login(primary, 2n);
  const second = await cluster.login(other, 3n);
  return { cluster, other, root, first, second };
}

/** A client joins while its node hears nothing of the others; it hears them again a moment later. */
async function joinsUnheard(cluster: TestCluster, member: Parameters<typeof join>[0]): Promise<void> {
  const joining = join(member);
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  cluster.passes = () => true;
  await cluster.drive(joining);
}

describe("A partition on its way between members on several nodes", () => {
  it("waits for what its owner has polled through another node, until its time is up.", async () => {
    for (const joinsOn of ["primary", "other"] as const) {
      const parts = await memberOnBackup();
      const { cluster, member, one } = parts;
      const group = await cluster.group(one, 1);
      await cluster.until(() => group.partition?.committedNextOffset === 10);
      for (const partitionId of [0, 1]) {
        assert.equal((await polledBy(cluster, member, partitionId)).messages.length, 10);
      }
      const second = await cluster.login(parts[joinsOn], 3n);
      await cluster.drive(join(second));
      await cluster.clock.run(20_000);
      assert.deepEqual(await cluster.drive(pollable(second)), [], "it is not the new member's yet");
      assert.equal((await polledBy(cluster, second, 1)).partitionId, PARTITION_NOT_OWNED);
      assert.equal((await polledBy(cluster, member, 1)).partitionId, PARTITION_NOT_OWNED, "nobody polls it");
      await cluster.clock.run(11_000);
      await waitsFor(cluster, second, [1]);
      assert.equal((await polledBy(cluster, second, 1)).messages.length, 10, "it comes again");
      await cluster.stop();
    }
  });

  it("waits for what its owner has polled over another connection, to the node that leads the partition.", async () => {
    const { cluster, primary, other, member } = await memberOnBackup();
    const group = { consumer: GROUP_CONSUMER, partitionId: 1, strategy: { kind: "next" } } as const;
    const body = pollBody({ ...group, count: 10, autoCommit: false });
    const routing = decodePollRoutingReply(await cluster.drive(member.ok("GetPollRouting", body)));
    const data = await cluster.login(primary, 9n);
    const whom = encodeAttachConsumerSession(routing.consumerSession);
    await cluster.drive(data.ok("AttachConsumerSession", whom));
    const given = polled(await cluster.drive(data.ok("PollMessagesOnPrimary", body)));
    assert.equal(given.messages.length, 10);
    const second = await cluster.login(other, 3n);
    await cluster.drive(join(second));
    await cluster.clock.run(10_000);
    assert.deepEqual(await cluster.drive(pollable(second)), [], "it is not the new member's yet");
    assert.equal(await cluster.drive(commit(data, 1, 9)), 0);
    await cluster.clock.run(1500);
    assert.deepEqual(await cluster.drive(pollable(second)), [1]);
    await cluster.stop();
  });

  it("moves with the next words between the nodes when its owner on another node has nothing to commit.", async () => {
    const { cluster, member, other } = await memberOnBackup();
    const second = await cluster.login(other, 3n);
    await cluster.drive(join(second));
    await cluster.clock.run(1500);
    assert.deepEqual(await cluster.drive(pollable(second)), [1]);
    assert.deepEqual(await cluster.drive(pollable(member)), [0]);
    await cluster.stop();
  });

  it("waits for what an owner has polled of whom the joiner's node has not heard.", async () => {
    const { cluster, root, first, second } = await membersOnTwoNodes();
    await cluster.drive(createGroup(root, 2));
    for (const partitionId of [0, 1]) await cluster.drive(sendTo(root, partitionId, 10));
    await cluster.clock.run(1000);
    const joining = [join(first), join(second)];
    await cluster.drive(joining[0] as Promise<unknown>);
    assert.equal((await polledBy(cluster, first, 1)).messages.length, 10);
    await cluster.drive(Promise.all(joining));
    assert.equal((await polledBy(cluster, second, 1)).partitionId, PARTITION_NOT_OWNED);
    assert.equal(await cluster.drive(commit(first, 1, 9)), 0);
    await waitsFor(cluster, second, [1]);
    await cluster.stop();
  });

  it("waits for what was polled of a partition that the joiner's node has not heard of.", async () => {
    const { cluster, other, root, first, second } = await membersOnTwoNodes();
    await cluster.drive(createGroup(root, 1));
    await cluster.drive(join(first));
    await cluster.clock.run(1000);
    cluster.passes = (packet) => packet.to !== other;
    const one = { stream: toIdentifier(0), topic: toIdentifier(0), partitionsCount: 1 };
    await cluster.drive(root.ok("CreatePartitions", encodeCreatePartitions(one)));
    await cluster.drive(sendTo(root, 1, 10));
    assert.equal((await polledBy(cluster, first, 1)).messages.length, 10);
    await joinsUnheard(cluster, second);
    await movesOnceCommitted(cluster, { first, second });
    await cluster.stop();
  });

  it("waits for what was polled of a group that the joiner's node has not heard of.", async () => {
    const { cluster, other, root, first, second } = await membersOnTwoNodes();
    await cluster.clock.run(1000);
    cluster.passes = (packet) => packet.to !== other;
    await cluster.drive(createGroup(root, 2));
    await cluster.drive(sendTo(root, 1, 10));
    await cluster.drive(join(first));
    assert.equal((await polledBy(cluster, first, 1)).messages.length, 10);
    await joinsUnheard(cluster, second);
    await movesOnceCommitted(cluster, { first, second });
    await cluster.stop();
  });

  it("leaves room for others when a member joins a group of many partitions.", async () => {
    const cluster = await TestCluster.start();
    const primary = await cluster.metadataPrimary();
    const root = await cluster.login(primary, 1n);
    await cluster.drive(createGroup(root, MANY));
    const first = await cluster.login((primary + 1) % 3, 2n);
    await cluster.drive(join(first));
    const second = await cluster.login((primary + 2) % 3, 3n);
    const { metadata } = cluster.broker(primary).shard;
    await cluster.drive(join(second));
    const begunMs = cluster.clock.monotonicMs();
    let most = 0;
    await cluster.until(() => {
      most = Math.max(most, metadata.replica.op - metadata.commit);
      return membersOf(cluster, primary).every(({ revocations }) => revocations.length === 0);
    });
    const tookMs = cluster.clock.monotonicMs() - begunMs;
    assert.ok(most <= AT_ONCE, `${most} ops were under way at once`);
    assert.ok(tookMs < 1000, `it took ${tookMs} ms`);
    assert.deepEqual(
      membersOf(cluster, primary).map(({ partitions }) => partitions.length),
      [MANY / 2, MANY / 2],
    );
    await cluster.stop();
  });

  it("comes to its new owner also when the node that decides the time is up has died meanwhile.", async () => {
    const { cluster, primary, one, other, member } = await memberOnBackup();
    const group = await cluster.group(one, 1);
    await cluster.until(() => group.partition?.committedNextOffset === 10);
    await polledBy(cluster, member, 1);
    const second = await cluster.login(other, 3n);
    await cluster.drive(join(second));
    await cluster.clock.run(1000);
    cluster.kill(primary);
    await cluster.clock.run(10_000);
    assert.deepEqual(await cluster.drive(pollable(second)), []);
    await cluster.clock.run(20_000);
    await waitsFor(cluster, second, [1]);
    await cluster.stop();
  });
});
