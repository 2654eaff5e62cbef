import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import type { BrokerConfig } from "../broker-config.ts";
import { SILENT_INTERVALS } from "../sessions/heartbeat.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import {
  commit,
  createGroup,
  GROUP_CONSUMER,
  join,
  leave,
  pollable,
  pollGroup,
  sendTo,
  stored,
} from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";

const INTERVAL_MS = 4000;
const GRACE_MS = 16_000;
const SIGN_OF_LIFE_MS = 200;
const CONFIG = {
  heartbeat: { isEnabled: true, intervalMs: INTERVAL_MS },
  recoveredSessionGraceMs: GRACE_MS,
};

/** A cluster with a group over four partitions, and clients 1, 2, 3 on its primary and the two others. */
async function withClients(config: Partial<BrokerConfig> = CONFIG) {
  const cluster = await TestCluster.start(3, { config });
  const primary = await cluster.metadataPrimary();
  const [one, other] = [0, 1, 2].filter((at) => at !== primary) as [number, number];
  const first = await cluster.login(primary, 1n);
  await cluster.drive(createGroup(first, 4));
  await cluster.until(() => cluster.broker(other).shard.catalog.counts().groups === 1);
  const clients = [first, await cluster.login(one, 2n), await cluster.login(other, 3n)] as const;
  return { cluster, primary, one, other, clients };
}

/** Lets time pass in which these clients show that they are there. */
async function pass(cluster: TestCluster, lengthMs: number, clients: readonly TestClient[]): Promise<void> {
  for (let ms = 0; ms < lengthMs; ms += SIGN_OF_LIFE_MS) {
    await cluster.clock.run(SIGN_OF_LIFE_MS);
    for (const client of clients) await cluster.drive(client.ok("Ping"));
  }
}

function sessionsOn(cluster: TestCluster, at: number): bigint[] {
  return cluster
    .broker(at)
    .shard.metadata.clientTable.sessions()
    .map(({ client }) => client);
}

/** Lets time pass until the primary of the metadata says how far it has committed. */
async function untilBroadcast(cluster: TestCluster): Promise<void> {
  let isHeard = false;
  cluster.passes = ({ bytes }) => {
    isHeard ||= bytes[60] === ReplicaCommand.commit;
    return true;
  };
  await cluster.until(() => isHeard);
}

function share(cluster: TestCluster, client: TestClient): Promise<number[]> {
  return cluster.drive(pollable(client));
}

/** Two messages in partition 0, which a member on a backup owns and knows of. */
async function withMessages() {
  const { cluster, primary, one, clients } = await withClients();
  const [first, member] = clients;
  await cluster.drive(sendTo(first, 0, 2));
  await cluster.drive(join(member));
  const group = await cluster.group(one, 0);
  await cluster.until(() => group.partition?.committedNextOffset === 2);
  assert.ok((await cluster.group(primary, 0)).isPrimary);
  return { cluster, first, member };
}

/** What a member is given of partition 0. */
async function textsOf(cluster: TestCluster, member: TestClient): Promise<string[]> {
  const { messages } = await cluster.drive(pollGroup(member, 0));
  return messages.map(({ text }) => text);
}

describe("In a cluster", () => {
  it("a member on a node that is killed loses its partitions to a member elsewhere.", async () => {
    const { cluster, one, other, clients } = await withClients();
    const [, lost, left] = clients;
    for (const member of [lost, left]) await cluster.drive(join(member));
    await pass(cluster, INTERVAL_MS, clients);
    assert.equal((await share(cluster, left)).length, 2);
    cluster.kill(one);
    const rest = [clients[0], left];
    await pass(cluster, SILENT_INTERVALS * INTERVAL_MS - INTERVAL_MS / 2, rest);
    assert.equal((await share(cluster, left)).length, 2, "a node has time to come back");
    await pass(cluster, 2 * INTERVAL_MS, rest);
    assert.deepEqual(await share(cluster, left), [0, 1, 2, 3]);
    assert.deepEqual(sessionsOn(cluster, other), [1n, 2n, 3n], "the session outlives the membership");
    await cluster.stop();
  });

  it("the sessions of a node that is killed end, those of the other nodes do not.", async () => {
    const { cluster, primary, one, other, clients } = await withClients();
    cluster.kill(one);
    const rest = [clients[0], clients[2]];
    await pass(cluster, GRACE_MS - INTERVAL_MS, rest);
    assert.deepEqual(sessionsOn(cluster, primary), [1n, 2n, 3n]);
    await pass(cluster, 2 * INTERVAL_MS, rest);
    for (const at of [primary, other]) assert.deepEqual(sessionsOn(cluster, at), [1n, 3n], `node ${at}`);
    await cluster.stop();
  });

  it("a client that is merely on a backup keeps its session and its partitions.", async () => {
    const { cluster, primary, clients } = await withClients();
    const [, one, other] = clients;
    for (const member of [one, other]) await cluster.drive(join(member));
    await pass(cluster, 3 * GRACE_MS, clients);
    assert.deepEqual(sessionsOn(cluster, primary), [1n, 2n, 3n]);
    const shares = [...(await share(cluster, one)), ...(await share(cluster, other))];
    assert.deepEqual(shares.sort(), [0, 1, 2, 3]);
    await cluster.stop();
  });

  it("nobody but the clients of the dead primary is logged out after a view change.", async () => {
    const { cluster, primary, one, other, clients } = await withClients();
    const [, left, right] = clients;
    for (const member of [left, right]) await cluster.drive(join(member));
    await pass(cluster, GRACE_MS - 1000, clients);
    cluster.kill(primary);
    const next = await cluster.metadataPrimary();
    await pass(cluster, GRACE_MS - 1000, [left, right]);
    assert.deepEqual(sessionsOn(cluster, next), [1n, 2n, 3n], "the new primary gives everybody his time");
    await pass(cluster, GRACE_MS, [left, right]);
    for (const at of [one, other]) assert.deepEqual(sessionsOn(cluster, at), [2n, 3n], `node ${at}`);
    const shares = [...(await share(cluster, left)), ...(await share(cluster, right))];
    assert.deepEqual(shares.sort(), [0, 1, 2, 3]);
    await cluster.stop();
  });

  it("a client that logs in on another node after its own died keeps its membership.", async () => {
    const { cluster, one, other, clients } = await withClients();
    const [first, moving, right] = clients;
    for (const member of [moving, right]) await cluster.drive(join(member));
    cluster.kill(one);
    const moved = await cluster.login(other, 2n);
    await pass(cluster, 2 * GRACE_MS, [first, moved, right]);
    assert.deepEqual(sessionsOn(cluster, other), [1n, 2n, 3n]);
    assert.equal((await share(cluster, moved)).length, 2);
    await cluster.stop();
  });

  it("a login on another node takes the older one's right to poll for its group.", async () => {
    const { cluster, other, clients } = await withClients();
    const [first, older, right] = clients;
    await cluster.drive(join(older));
    const newer = await cluster.login(other, 2n);
    await pass(cluster, INTERVAL_MS, [first, older, newer, right]);
    assert.notEqual((await cluster.drive(pollGroup(older, 0))).partitionId, 0);
    assert.equal((await cluster.drive(pollGroup(newer, 0))).partitionId, 0);
    await cluster.stop();
  });

  it("nobody loses his partitions when no node heard another for a while and no view changed.", async () => {
    const heartbeat = { isEnabled: true, intervalMs: 800 };
    const { cluster, primary, clients } = await withClients({ ...CONFIG, heartbeat });
    const { metadata, catalog } = cluster.broker(primary).shard;
    await cluster.drive(Promise.all([join(clients[1]), join(clients[2])]));
    const { view } = metadata;
    // Two broadcasts are lost: had the last one been half a second ago, the nodes would turn to an election.
    await untilBroadcast(cluster);
    cluster.passes = () => false;
    await pass(cluster, 1400, clients);
    cluster.passes = () => true;
    await pass(cluster, 1000, clients);
    assert.equal(metadata.view, view);
    assert.deepEqual([...catalog.groupClients()].sort(), [2n, 3n]);
    await cluster.stop();
  });

  it("nobody is judged while the nodes do not hear each other.", async () => {
    const { cluster, clients } = await withClients();
    const [, left, right] = clients;
    for (const member of [left, right]) await cluster.drive(join(member));
    cluster.passes = () => false;
    await pass(cluster, 2 * GRACE_MS, clients);
    cluster.passes = () => true;
    await pass(cluster, GRACE_MS, clients);
    const primary = await cluster.metadataPrimary();
    assert.deepEqual(sessionsOn(cluster, primary), [1n, 2n, 3n]);
    const shares = [...(await share(cluster, left)), ...(await share(cluster, right))];
    assert.deepEqual(shares.sort(), [0, 1, 2, 3]);
    await cluster.stop();
  });

  it("the client of a node that was cut off for too long is evicted when the node is back.", async () => {
    const { cluster, primary, one, clients } = await withClients();
    const [first, cut, right] = clients;
    cluster.passes = ({ from, to }) => from !== one && to !== one;
    await pass(cluster, GRACE_MS + INTERVAL_MS, [first, cut, right]);
    assert.deepEqual(sessionsOn(cluster, primary), [1n, 3n]);
    cluster.passes = () => true;
    await pass(cluster, 2 * INTERVAL_MS, [first, right]);
    assert.equal(cut.unexpected.length, 1);
    assert.equal(cut.unexpected[0]?.eviction?.client, 2n);
    assert.ok(cut.isClosed);
    await cluster.stop();
  });

  it("a member on a backup polls and commits there what it owns.", async () => {
    const { cluster, first, member } = await withMessages();
    assert.deepEqual(await textsOf(cluster, member), ["p0-0", "p0-1"]);
    assert.equal(await cluster.drive(commit(member, 0, 0)), 0);
    const autoCommit = pollBody({ consumer: GROUP_CONSUMER, strategy: { kind: "next" }, autoCommit: true });
    const next = async () =>
      polled(await cluster.drive(member.ok("PollMessages", autoCommit))).messages.map(({ text }) => text);
    assert.deepEqual(await next(), ["p0-1"]);
    assert.deepEqual(await next(), []);
    assert.equal(await cluster.drive(stored(first, 0)), 1);
    await cluster.stop();
  });

  it("what a member polled on a backup is in nobody's way, and comes again to the next owner.", async () => {
    const { cluster, first, member } = await withMessages();
    assert.equal((await textsOf(cluster, member)).length, 2);
    await cluster.drive(join(first));
    await cluster.drive(leave(member));
    assert.deepEqual(await share(cluster, first), [0, 1, 2, 3]);
    assert.deepEqual(await textsOf(cluster, first), ["p0-0", "p0-1"]);
    await cluster.stop();
  });
});
