import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodePollRoutingReply, encodeAttachConsumerSession, PARTITION_NOT_OWNED } from "@millrace/protocol";
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
    const cluster = await TestCluster.start();
    const primary = await cluster.metadataPrimary();
    const other = (primary + 1) % 3;
    const root = await cluster.login(primary, 1n);
    await cluster.drive(createGroup(root, 2));
    for (const partitionId of [0, 1]) await cluster.drive(sendTo(root, partitionId, 10));
    await cluster.clock.run(1000);
    const first = await cluster.login(primary, 2n);
    const second = await cluster.login(other, 3n);
    const joining = [join(first), join(second)];
    await cluster.drive(joining[0] as Promise<unknown>);
    assert.equal((await polledBy(cluster, first, 1)).messages.length, 10);
    await cluster.drive(Promise.all(joining));
    assert.equal((await polledBy(cluster, second, 1)).partitionId, PARTITION_NOT_OWNED);
    assert.equal(await cluster.drive(commit(first, 1, 9)), 0);
    await waitsFor(cluster, second, [1]);
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
