import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodePollRoutingReply,
  encodeAttachConsumerSession,
  encodeGetConsumerOffset,
  type PollRouting,
} from "@millrace/protocol";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { commit, createGroup, GROUP, GROUP_CONSUMER, join, sendTo, stored } from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const POLL = pollBody({
  consumer: GROUP_CONSUMER,
  partitionId: 0,
  strategy: { kind: "next" },
  count: 2,
  autoCommit: true,
});

/**
 * A cluster with three messages, and a member of the group that is connected to a node that leads nothing.
 */
async function withMember() {
  const cluster = await TestCluster.start();
  const primary = await cluster.metadataPrimary();
  const writer = await cluster.login(primary, 1n);
  await cluster.drive(createGroup(writer, 1));
  await cluster.drive(sendTo(writer, 0, 3));
  const at = (primary + 1) % 3;
  const member = await cluster.login(at, 2n);
  await cluster.group(at, 0);
  await cluster.drive(join(member));
  return { cluster, primary, writer, member };
}

async function routingOf(cluster: TestCluster, client: TestClient): Promise<PollRouting> {
  return decodePollRoutingReply(await cluster.drive(client.ok("GetPollRouting", POLL)));
}

/** Code of attaching a connection to what a routing names. */
async function attach(cluster: TestCluster, client: TestClient, routing: PollRouting): Promise<number> {
  const body = encodeAttachConsumerSession(routing.consumerSession);
  return (await cluster.drive(client.command("AttachConsumerSession", body))).code;
}

async function offsetsOf(cluster: TestCluster, client: TestClient): Promise<number[]> {
  const payload = await cluster.drive(client.ok("PollMessagesOnPrimary", POLL));
  return polled(payload).messages.map(({ offset }) => offset);
}

describe("The way of a consumer to the node that leads its partition", () => {
  it("leads from any node to the primary, where a second connection polls and commits for the member", async () => {
    const { cluster, primary, member } = await withMember();
    const routing = await routingOf(cluster, member);
    assert.equal(routing.primary.tcpPort, 1000 + primary);
    const offsetBody = encodeGetConsumerOffset({ ...GROUP, consumer: GROUP_CONSUMER, partitionId: 0 });
    const forOffsets = await cluster.drive(member.ok("GetConsumerOffsetRouting", offsetBody));
    assert.deepEqual(decodePollRoutingReply(forOffsets).primary, routing.primary);

    const data = await cluster.login(primary, 3n);
    assert.deepEqual(await offsetsOf(cluster, data), [], "one who is no member is given nothing");
    assert.equal(await attach(cluster, data, routing), 0);
    assert.deepEqual(await offsetsOf(cluster, data), [0, 1]);
    assert.equal(await cluster.drive(stored(data, 0)), 1);
    assert.deepEqual(await offsetsOf(cluster, data), [2]);
    assert.equal(await cluster.drive(commit(data, 0, 0)), 0);
    assert.equal(await cluster.drive(stored(data, 0)), 0);
    await cluster.stop();
  });

  it("is closed on a node that does not lead the partition, and leads elsewhere behind a killed one", async () => {
    const { cluster, primary, member } = await withMember();
    const refused = await cluster.drive(member.command("PollMessagesOnPrimary", POLL));
    assert.equal(refused.code, ErrorCode.TransientNotAccepted);
    cluster.kill(primary);
    const others = [0, 1, 2].filter((at) => at !== primary);
    const groups = await Promise.all(others.map((at) => cluster.group(at, 0)));
    await cluster.until(() => groups.some(({ isPrimary }) => isPrimary));
    await cluster.until(() => groups.every(({ replica }) => replica?.status === "normal"));
    const routing = await routingOf(cluster, member);
    const next = routing.primary.tcpPort - 1000;
    assert.notEqual(next, primary);
    const data = await cluster.login(next, 3n);
    assert.equal(await attach(cluster, data, routing), 0);
    assert.deepEqual(await offsetsOf(cluster, data), [0, 1]);
    await cluster.stop();
  });

  it("is refused to who names a session that is over, or one that the node cannot know yet", async () => {
    const { cluster, primary, member } = await withMember();
    const routing = await routingOf(cluster, member);
    const { consumerSession } = routing;
    const data = await cluster.login(primary, 3n);
    const early = { ...consumerSession, metadataWatermark: consumerSession.metadataWatermark + 1000 };
    const tooEarly = await attach(cluster, data, { ...routing, consumerSession: early });
    assert.equal(tooEarly, ErrorCode.TransientNotAccepted);
    const older = { ...consumerSession, session: consumerSession.session - 1 };
    assert.equal(await attach(cluster, data, { ...routing, consumerSession: older }), ErrorCode.StaleClient);
    assert.equal(await attach(cluster, data, routing), 0);
    await cluster.drive(member.ok("LogoutUser"));
    await cluster.until(
      () => cluster.broker(primary).shard.metadata.clientTable.session(consumerSession.client) === undefined,
    );
    assert.deepEqual(
      await offsetsOf(cluster, data),
      [],
      "with the member its connections lose the partition",
    );
    assert.equal(await attach(cluster, data, routing), ErrorCode.StaleClient);
    await cluster.stop();
  });
});
