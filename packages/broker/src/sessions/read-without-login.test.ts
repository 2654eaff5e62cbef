import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { HEADER_LENGTH } from "@millrace/framing";
import {
  CommandCode,
  type CommandName,
  decodeGetClusterGroupsReply,
  decodeGetClusterMetadataReply,
  EvictionReason,
  encodeGetClusterGroups,
  encodeLoginRegister,
  encodeReadWithoutLogin,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

const NOTHING: Uint8Array = new Uint8Array(0);

function bodyOf(read: CommandName, body = NOTHING, password = "iggy"): Uint8Array {
  const login = encodeLoginRegister({
    ...{ protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1" },
    ...{ username: "iggy", password, context: "" },
  });
  return encodeReadWithoutLogin({ login, code: CommandCode[read], body });
}

/** A cluster with a topic, of which one node hears nothing of the others any more. */
async function cutOff() {
  const cluster = await TestCluster.start();
  const leader = await cluster.metadataPrimary();
  const client = await cluster.login(leader);
  await cluster.drive(createSmallTopic(client, {}, 2));
  for (const at of [0, 1, 2]) await cluster.group(at, 1);
  await cluster.clock.run(1000);
  cluster.passes = () => false;
  return { cluster, leader };
}

function asked(cluster: TestCluster, client: TestClient, body: Uint8Array) {
  return cluster.drive(client.command("ReadWithoutLogin", body));
}

describe("What a node tells of its cluster without a login", () => {
  it("is its roster and where groups stand, also where no login is possible.", async () => {
    const { cluster, leader } = await cutOff();
    for (const at of [leader, (leader + 1) % 3]) {
      const client = cluster.connect(at);
      const roster = await asked(cluster, client, bodyOf("GetClusterMetadata"));
      assert.equal(decodeGetClusterMetadataReply(roster.payload).nodes.length, 3);
      const page = encodeGetClusterGroups({ countMax: 10 });
      const answer = await asked(cluster, client, bodyOf("GetClusterGroups", page));
      const { nodes, partitions } = decodeGetClusterGroupsReply(answer.payload);
      assert.equal(partitions.length, 2);
      const told = nodes.filter(({ metadata }) => metadata !== undefined);
      assert.deepEqual(told.map(({ replica }) => replica), [at]); // biome-ignore format: one line
      const later = await asked(cluster, client, bodyOf("GetClusterMetadata"));
      assert.equal(later.code, 0, "the connection goes on");
      assert.equal((await cluster.drive(client.command("GetMe"))).code, ErrorCode.Unauthenticated);
      assert.equal(cluster.broker(at).shard.metadata.mayHaveRequestOf(client.client), false);
    }
    await cluster.stop();
  });

  it("is not for whoever has wrong credentials, and nothing else can be read so.", async () => {
    const { cluster, leader } = await cutOff();
    const stranger = cluster.connect(leader);
    const wrong = await asked(cluster, stranger, bodyOf("GetClusterMetadata", NOTHING, "wrong"));
    assert.equal(wrong.eviction?.reason, EvictionReason.InvalidCredentials);
    await cluster.until(() => stranger.isClosed);
    const client = cluster.connect(leader);
    for (const read of ["GetStreams", "GetUsers", "CreateStream"] as const)
      assert.equal((await asked(cluster, client, bodyOf(read))).code, ErrorCode.FeatureUnavailable);
    const long = await asked(cluster, client, bodyOf("GetClusterMetadata", new Uint8Array(1)));
    assert.equal(long.code, ErrorCode.InvalidCommand);
    assert.equal((await asked(cluster, client, NOTHING)).code, ErrorCode.InvalidCommand);
    await cluster.stop();
  });

  it("is put off by a node that its cluster has not taken in: it knows nobody.", async () => {
    const cluster = new TestCluster(3);
    await cluster.startNode(0);
    const answer = await asked(cluster, cluster.connect(0), bodyOf("GetClusterMetadata"));
    assert.deepEqual([answer.code, answer.eviction], [ErrorCode.TransientNotAccepted, undefined]);
    const words = new TextDecoder().decode(answer.bytes.subarray(HEADER_LENGTH));
    assert.match(
      words,
      /has not taken this node in.* Of the 3 nodes .* reaches 3, itself among them\. A new cluster/,
    );
    await cluster.stop();
  });

  it("is put off without a word by a node that is busy: its cluster has taken it in, and reaches it.", async () => {
    const cluster = await TestCluster.start();
    const leader = await cluster.metadataPrimary();
    await cluster.login(leader);
    const { passwordChecks } = cluster.broker(leader).shard;
    const check = passwordChecks.check.bind(passwordChecks);
    passwordChecks.check = (claim) => claim.decided("busy");
    const client = cluster.connect(leader);
    const busy = await asked(cluster, client, bodyOf("GetClusterMetadata"));
    assert.deepEqual([busy.code, busy.bytes.length], [ErrorCode.TransientNotAccepted, HEADER_LENGTH]);
    passwordChecks.check = check;
    assert.equal((await asked(cluster, client, bodyOf("GetClusterMetadata"))).code, 0);
    await cluster.stop();
  });

  it("is put off without a word for a wrong password in an election, and refused when that is over.", async () => {
    const cluster = await TestCluster.start();
    const leader = await cluster.metadataPrimary();
    const backup = (leader + 1) % 3;
    const { metadata } = cluster.broker(backup).shard;
    await cluster.login(backup);
    const client = cluster.connect(backup);
    cluster.kill(leader);
    cluster.delaysOf = () => [200];
    await cluster.until(() => metadata.primary === undefined);
    const wrong = bodyOf("GetClusterMetadata", NOTHING, "wrong");
    const early = await asked(cluster, client, wrong);
    assert.deepEqual([early.code, early.eviction], [ErrorCode.TransientNotAccepted, undefined]);
    assert.equal(early.bytes.length, HEADER_LENGTH);
    assert.equal((await asked(cluster, client, bodyOf("GetClusterMetadata"))).code, 0, "a right one is told");
    await cluster.until(() => metadata.primary !== undefined);
    const late = await asked(cluster, client, wrong);
    assert.equal(late.eviction?.reason, EvictionReason.InvalidCredentials);
    await cluster.stop();
  });
});
