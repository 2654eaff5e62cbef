import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import { EvictionReason, encodeCreateStream, NO_OPTIONS } from "@millrace/protocol";
import type { BrokerConfig } from "../broker-config.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createGroup, join } from "../testing/test-groups.ts";

const CLIENT = 5n;
const LATE_MS = 700;

const createStream = (name: string) => encodeCreateStream({ name, options: NO_OPTIONS });

/** A cluster with a group, and what clients there are of its nodes. */
async function withGroup(config: Partial<BrokerConfig> = {}) {
  const cluster = await TestCluster.start(3, { config });
  const primary = await cluster.metadataPrimary();
  const [one, other] = [0, 1, 2].filter((at) => at !== primary) as [number, number];
  const first = await cluster.login(primary, 1n);
  await cluster.drive(createGroup(first, 2));
  await cluster.until(() => cluster.broker(other).shard.catalog.counts().groups === 1);
  const { metadata, catalog } = cluster.broker(primary).shard;
  return { cluster, primary, one, other, metadata, catalog };
}

/** The client logs in, does something and becomes a member of the group. */
async function atWork(cluster: TestCluster, at: number): Promise<TestClient> {
  const client = await cluster.login(at, CLIENT);
  await cluster.drive(client.ok("CreateStream", createStream("mine")));
  await cluster.drive(join(client));
  return client;
}

/** A login of the same client whose answer it does not wait for: it hangs up. */
function givenUp(cluster: TestCluster, at: number): () => void {
  const client = cluster.connect(at);
  client.login({ client: CLIENT }).catch(() => {});
  return () => client.close();
}

describe("A login that was given up", () => {
  it("and is committed late ends neither the newer session's state nor its memberships.", async () => {
    const { cluster, one, other, metadata, catalog } = await withGroup();
    const before = await atWork(cluster, other);
    cluster.delaysOf = ({ from, bytes }) =>
      from === one && bytes[60] === ReplicaCommand.forwardedRequest ? [LATE_MS] : [1];
    const hangUp = givenUp(cluster, one);
    await cluster.clock.run(300);
    hangUp();
    const newer = await cluster.login(other, CLIENT);
    assert.ok(newer.session > before.session);
    await cluster.until(() => Number(metadata.clientTable.session(CLIENT)?.epoch) > Number(newer.session));
    await cluster.clock.run(1000);
    assert.notEqual(metadata.clientTable.session(CLIENT), undefined, "the late session is not logged out");
    assert.equal(catalog.membershipsOf(CLIENT).length, 1);
    const fenced = await cluster.drive(newer.command("CreateStream", createStream("more"), { request: 9n }));
    assert.equal(fenced.eviction?.reason, EvictionReason.SessionTooLow);
    const again = await cluster.login(other, CLIENT);
    const repeated = await cluster.drive(
      again.command("CreateStream", createStream("mine"), { request: 1n }),
    );
    assert.equal(repeated.code, 0, "what was done is known: its reply is stored");
    assert.equal(
      (await cluster.drive(again.command("CreateStream", createStream("more"), { request: 9n }))).code,
      0,
    );
    await cluster.stop();
  });

  it("while no node was primary is not passed on any more when one is again.", async () => {
    const { cluster, primary } = await withGroup({ admissionTimeoutMs: 60_000 });
    const [next, one] = [(primary + 1) % 3, (primary + 2) % 3];
    await atWork(cluster, next);
    cluster.passes = ({ bytes }) => bytes[60] !== ReplicaCommand.doViewChange;
    cluster.delaysOf = ({ bytes }) => (bytes[60] === ReplicaCommand.forwardedRequest ? [LATE_MS] : [1]);
    cluster.kill(primary);
    const { metadata } = cluster.broker(next).shard;
    for (const at of [next, one])
      await cluster.until(() => cluster.broker(at).shard.metadata.primary === undefined);
    const hangUp = givenUp(cluster, one);
    await cluster.clock.run(500);
    hangUp();
    await cluster.clock.run(10);
    const newer = cluster.connect(next);
    const answer = newer.login({ client: CLIENT });
    await cluster.clock.run(500);
    cluster.passes = () => true;
    assert.equal((await cluster.drive(answer)).code, 0);
    await cluster.clock.run(3 * LATE_MS);
    assert.equal(metadata.clientTable.session(CLIENT)?.epoch, Number(newer.session));
    assert.equal((await cluster.drive(newer.command("CreateStream", createStream("more")))).code, 0);
    await cluster.stop();
  });

  it("leaves a session that ends like those of a node that died.", async () => {
    const { cluster, one, metadata } = await withGroup({ recoveredSessionGraceMs: 4000 });
    cluster.delaysOf = ({ from, bytes }) =>
      from === one && bytes[60] === ReplicaCommand.forwardedRequest ? [LATE_MS] : [1];
    const hangUp = givenUp(cluster, one);
    await cluster.clock.run(300);
    hangUp();
    await cluster.until(() => metadata.clientTable.session(CLIENT) !== undefined);
    await cluster.until(() => metadata.clientTable.session(CLIENT) === undefined);
    assert.equal(metadata.clientTable.count, 1);
    await cluster.stop();
  });
});
