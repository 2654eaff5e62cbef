import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeCreateConsumerGroupReply,
  decodeGetClientsReply,
  decodeGetConsumerGroupsReply,
  decodeGetMeReply,
  decodeGetStatsReply,
  EvictionReason,
  encodeCreateConsumerGroup,
  encodeCreatePartitions,
  encodeDeleteConsumerGroup,
  encodeDeletePartitions,
  encodeDeleteTopic,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeSyncConsumerGroup,
  PARTITION_NOT_OWNED,
  toIdentifier,
} from "@millrace/protocol";
import {
  createGroup,
  details,
  GROUP,
  join,
  leave,
  pollable,
  pollGroup,
  sendTo,
  sync,
} from "../testing/test-groups.ts";
import { TestServer, type TestServerOptions } from "../testing/test-server.ts";

async function started(partitionsCount: number, options: TestServerOptions = {}) {
  const server = await TestServer.start(options);
  const client = await server.login(1n);
  await createGroup(client, partitionsCount);
  return { server, client };
}

test("Groups are created, listed, shown and deleted, and every level that misses has its code.", async () => {
  const { server, client } = await started(2);
  const create = encodeCreateConsumerGroup({ ...GROUP, name: "h" });
  const created = decodeCreateConsumerGroupReply(await client.ok("CreateConsumerGroup", create));
  assert.deepEqual(created, { id: 1, name: "h", partitionsCount: 2, membersCount: 0, members: [] });
  assert.equal(
    (await client.command("CreateConsumerGroup", create)).code,
    ErrorCode.ConsumerGroupNameAlreadyExists,
  );
  const list = async () =>
    decodeGetConsumerGroupsReply(await client.ok("GetConsumerGroups", encodeGetConsumerGroups(GROUP)));
  assert.deepEqual(await list(), [
    { id: 0, name: "g", partitionsCount: 2, membersCount: 0 },
    { id: 1, name: "h", partitionsCount: 2, membersCount: 0 },
  ]);
  const remove = encodeDeleteConsumerGroup({ ...GROUP, group: toIdentifier(1) });
  assert.equal((await client.ok("DeleteConsumerGroup", remove)).length, 0);
  assert.equal((await client.command("DeleteConsumerGroup", remove)).code, ErrorCode.ConsumerGroupIdNotFound);
  assert.equal((await list()).length, 1);
  const lost = { ...GROUP, group: toIdentifier("lost") };
  assert.equal((await client.ok("GetConsumerGroup", encodeGetConsumerGroup(lost))).length, 0);
  for (const name of ["JoinConsumerGroup", "LeaveConsumerGroup"] as const) {
    assert.equal(
      (await client.command(name, encodeJoinConsumerGroup(lost))).code,
      ErrorCode.ConsumerGroupIdNotFound,
    );
  }
  const noTopic = { ...GROUP, topic: toIdentifier(9) };
  const codes = [
    (await client.command("GetConsumerGroup", encodeGetConsumerGroup(noTopic))).code,
    (await client.command("GetConsumerGroups", encodeGetConsumerGroups(noTopic))).code,
    (await client.command("JoinConsumerGroup", encodeJoinConsumerGroup(noTopic))).code,
    (
      await client.command(
        "GetConsumerGroups",
        encodeGetConsumerGroups({ ...GROUP, stream: toIdentifier(9) }),
      )
    ).code,
    (await client.command("JoinConsumerGroup", new Uint8Array(3))).code,
  ];
  const { TopicIdNotFound: noTopicCode, StreamIdNotFound: noStream, InvalidCommand } = ErrorCode;
  assert.deepEqual(codes, [noTopicCode, noTopicCode, noTopicCode, noStream, InvalidCommand]);
  await server.stop();
});

test("A lone member polls everything at once; who is no member is told to sync, and syncs to nothing.", async () => {
  const { server, client } = await started(3);
  await sendTo(client, 2, 2);
  assert.equal(await sync(client), undefined);
  assert.equal((await pollGroup(client, 2)).partitionId, PARTITION_NOT_OWNED);
  await join(client);
  assert.deepEqual(await sync(client), { generation: 1, partitions: [0, 1, 2] });
  await join(client);
  assert.equal((await sync(client))?.generation, 1, "joining twice changes nothing");
  const { partitionId, currentOffset, messages } = await pollGroup(client, 2);
  assert.deepEqual([partitionId, currentOffset], [2, 1]);
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["p2-0", "p2-1"],
  );
  const nowhere = await pollGroup(client, undefined);
  assert.deepEqual(
    [nowhere.partitionId, nowhere.messages.length],
    [0, 0],
    "a group poll names its partition",
  );
  const lost = { kind: "group", id: toIdentifier("lost") } as const;
  assert.equal((await pollGroup(client, 2, { consumer: lost })).partitionId, PARTITION_NOT_OWNED);
  await leave(client);
  assert.equal((await pollGroup(client, 2)).partitionId, PARTITION_NOT_OWNED);
  const again = await client.command("LeaveConsumerGroup", encodeLeaveConsumerGroup(GROUP));
  assert.equal(again.code, ErrorCode.ConsumerGroupMemberNotFound);
  await server.stop();
});

test("Members beyond the partitions own nothing, poll nothing and wait; shares differ by at most one.", async () => {
  const { server, client } = await started(3);
  const members = [client, ...(await Promise.all([2n, 3n, 4n, 5n].map((id) => server.login(id))))];
  const shares = async () =>
    (await Promise.all(members.map((one) => pollable(one)))).map((one) => one.length);
  const expected = [
    [3, 0, 0, 0, 0],
    [2, 1, 0, 0, 0],
    [1, 1, 1, 0, 0],
    [1, 1, 1, 0, 0],
    [1, 1, 1, 0, 0],
  ];
  for (const [index, member] of members.entries()) {
    await join(member);
    assert.deepEqual(await shares(), expected[index]);
  }
  const group = await details(client);
  assert.deepEqual(
    group?.members.map(({ id, partitions }) => [id, partitions.length]),
    [
      [0, 1],
      [1, 1],
      [2, 1],
      [3, 0],
      [4, 0],
    ],
  );
  for (const index of [1, 0]) {
    await leave(members[index] ?? client);
    const counts = await shares();
    assert.equal(counts[0] === 0 || counts[0] === 1, true);
    assert.equal(
      counts.reduce((sum, one) => sum + one, 0),
      3,
      "every partition has an owner",
    );
  }
  await server.stop();
});

test("What a client is a member of shows in its own record, in the list of clients and in the statistics.", async () => {
  const { server, client } = await started(1);
  const other = await server.login(2n);
  await join(other);
  const me = decodeGetMeReply(await other.ok("GetMe"));
  assert.deepEqual(me.groups, [{ streamId: 0, topicId: 0, groupId: 0 }]);
  assert.equal(me.groupsCount, 1);
  const counts = decodeGetClientsReply(await client.ok("GetClients")).map(({ groupsCount }) => groupsCount);
  assert.deepEqual(counts, [0, 1]);
  assert.equal(decodeGetStatsReply(await client.ok("GetStats")).consumerGroupsCount, 1);
  await leave(other);
  assert.equal(decodeGetMeReply(await other.ok("GetMe")).groupsCount, 0);
  await server.stop();
});

test("A closed connection, a logout and a deleted topic end memberships at once.", async () => {
  const { server, client } = await started(2);
  const other = await server.login(2n);
  await join(client);
  await join(other);
  assert.deepEqual(await pollable(client), [0]);
  other.close();
  await server.platform.clock.run(10);
  assert.deepEqual(await pollable(client), [0, 1]);
  const third = await server.login(3n);
  await join(third);
  await third.ok("LogoutUser");
  assert.deepEqual(await pollable(client), [0, 1]);
  await client.ok("DeleteTopic", encodeDeleteTopic(GROUP));
  assert.equal(decodeGetMeReply(await client.ok("GetMe")).groupsCount, 0);
  assert.equal((await client.ok("SyncConsumerGroup", encodeSyncConsumerGroup(GROUP))).length, 0);
  await server.stop();
});

test("A client id that logs in again stays a member; its older connection polls no more.", async () => {
  const { server, client } = await started(1);
  await join(client);
  await sendTo(client, 0, 1);
  const successor = await server.login(1n);
  assert.deepEqual(await pollable(successor), [0]);
  assert.equal((await pollGroup(successor, 0)).messages.length, 1);
  assert.equal((await pollGroup(client, 0)).partitionId, PARTITION_NOT_OWNED);
  assert.equal(await sync(client), undefined);
  client.close();
  await server.platform.clock.run(10);
  assert.deepEqual(await pollable(successor), [0], "the end of a fenced connection ends no membership");
  await server.stop();
});

test("New partitions and fewer of them are dealt out at once.", async () => {
  const { server, client } = await started(1);
  const other = await server.login(2n);
  await join(client);
  await join(other);
  assert.deepEqual([await pollable(client), await pollable(other)], [[0], []]);
  await client.ok("CreatePartitions", encodeCreatePartitions({ ...GROUP, partitionsCount: 3 }));
  assert.deepEqual(
    [await pollable(client), await pollable(other)],
    [
      [0, 2],
      [1, 3],
    ],
  );
  await client.ok("DeletePartitions", encodeDeletePartitions({ ...GROUP, partitionsCount: 3 }));
  assert.deepEqual([await pollable(client), await pollable(other)], [[0], []]);
  await server.stop();
});

test("A silent member is evicted with 13 after 1.2 heartbeats and its share is taken over; others may be silent.", async () => {
  const { server, client } = await started(2);
  const [alive, silent] = [await server.login(2n), await server.login(3n)];
  await join(alive);
  await join(silent);
  for (let seconds = 0; seconds < 35; seconds += 5) {
    await server.platform.clock.run(5000);
    await alive.ok("Ping");
  }
  assert.equal(silent.unexpected.length, 0, "35 s are not too long");
  await server.platform.clock.run(5000);
  assert.equal(silent.unexpected[0]?.eviction?.reason, EvictionReason.StaleClient);
  assert.equal(silent.isClosed, true);
  assert.deepEqual(await pollable(alive), [0, 1]);
  await server.platform.clock.run(30_000);
  await client.ok("Ping");
  await server.stop();
});
