import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  decodeCreateConsumerGroupReply,
  encodeCreateConsumerGroup,
  encodeCreatePartitions,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeJoinConsumerGroup,
  GROUPS_PER_CLIENT_MAX,
  GROUPS_PER_TOPIC_MAX,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import { admitRequest } from "../admission/admit-request.ts";
import { MetadataOperation } from "../operation.table.ts";
import { GROUP, GroupDriver } from "./group-driver.test.ts";
import { EVERY_PARTITION, encodeJoinGroupOp } from "./join-group-op.ts";
import { encodeCompleteRevocationOp } from "./server-ops.ts";

test("a created group is answered with the partitions of its topic and without members", () => {
  const groups = new GroupDriver();
  groups.driver.createStream("s");
  assert.equal(groups.create("g").code, ErrorCode.TopicIdNotFound);
  groups.driver.createTopic("s", "t", 3);
  const { body } = groups.create("g");
  const reply = decodeCreateConsumerGroupReply(body);
  assert.deepEqual(reply, { id: 0, name: "g", partitionsCount: 3, membersCount: 0, members: [] });
  assert.equal(groups.create("g").code, ErrorCode.ConsumerGroupNameAlreadyExists);
  assert.equal(decodeCreateConsumerGroupReply(groups.create("h").body).id, 1);
  assert.equal(groups.driver.metadata.counts().groups, 2);
});

test("a topic has 4096 groups, and a deleted one makes room", () => {
  const groups = GroupDriver.withPartitions(1);
  for (let count = 1; count < GROUPS_PER_TOPIC_MAX; count += 1)
    assert.equal(groups.create(`g${count}`).code, 0);
  assert.equal(groups.create("g7").code, ErrorCode.ConsumerGroupNameAlreadyExists);
  assert.equal(groups.create("one more").code, ErrorCode.TooManyConsumerGroups);
  assert.equal(groups.driver.metadata.counts().groups, GROUPS_PER_TOPIC_MAX);
  groups.driver.createTopic("s", "other");
  const other = encodeCreateConsumerGroup({ ...GROUP, topic: toIdentifier("other"), name: "g" });
  assert.equal(
    groups.driver.request(Operation.CreateConsumerGroup, other).code,
    0,
    "another topic has its own",
  );
  groups.delete();
  assert.equal(groups.create("one more").code, 0);
});

test("a client is a member of 1024 groups, others join those and it joins again where it is", () => {
  const groups = GroupDriver.withPartitions(1);
  const join = (name: string, client: number) => {
    const body = encodeJoinGroupOp({ ...GROUP, group: toIdentifier(name), inFlight: [] });
    return groups.driver.applyOp(MetadataOperation.joinConsumerGroup, body, 0, BigInt(client)).code;
  };
  for (let count = 0; count <= GROUPS_PER_CLIENT_MAX; count += 1) groups.create(`g${count}`);
  for (let count = 0; count < GROUPS_PER_CLIENT_MAX; count += 1) assert.equal(join(`g${count}`, 5), 0);
  const last = `g${GROUPS_PER_CLIENT_MAX}`;
  assert.equal(join(last, 5), ErrorCode.TooManyConsumerGroups);
  assert.equal(join("g3", 5), 0);
  assert.equal(join(last, 6), 0);
  groups.logout(5);
  assert.equal(join(last, 5), 0);
});

test("a join that takes every partition to be in flight means those there are when it is executed", () => {
  const groups = GroupDriver.withPartitions(2);
  groups.join(1);
  const join = encodeJoinGroupOp({ ...GROUP, inFlight: [EVERY_PARTITION] });
  const more = encodeCreatePartitions({ ...GROUP, partitionsCount: 2 });
  assert.equal(groups.driver.request(Operation.CreatePartitions, more).code, 0);
  assert.equal(groups.driver.applyOp(MetadataOperation.joinConsumerGroup, join, 0, 2n).code, 0);
  const [first, second] = groups.find()?.members ?? [];
  assert.deepEqual(first?.partitions, [0, 1, 2, 3]);
  assert.deepEqual(
    first?.revocations.map(({ partitionId }) => partitionId),
    [2, 3],
  );
  assert.deepEqual(second?.partitions, []);
});

test("a join of an older journal means the partitions that it names", () => {
  const groups = GroupDriver.withPartitions(4);
  groups.join(1);
  const names = ["s", "t", "g"].flatMap((name) => [2, 1, name.charCodeAt(0)]);
  const body = Uint8Array.from([...names, 1, 0, 0, 0, 3, 0, 0, 0]);
  assert.deepEqual(encodeJoinGroupOp({ ...GROUP, inFlight: [3] }), body, "count u32, partition u32");
  assert.equal(groups.driver.applyOp(MetadataOperation.joinConsumerGroup, body, 0, 2n).code, 0);
  const [first, second] = groups.find()?.members ?? [];
  assert.deepEqual([first?.partitions, second?.partitions], [[0, 1, 3], [2]]);
});

test("ids of groups are never used again while their topic lives", () => {
  const groups = GroupDriver.withPartitions(1);
  assert.deepEqual(groups.delete().effects, [
    { kind: "group-deleted", group: { streamId: 0, topicId: 0, groupId: 0 } },
  ]);
  assert.equal(groups.delete().code, ErrorCode.ConsumerGroupIdNotFound);
  assert.equal(decodeCreateConsumerGroupReply(groups.create("g").body).id, 1);
});

test("one member owns everything at once, and joining again changes nothing", () => {
  const groups = GroupDriver.withPartitions(3);
  assert.deepEqual(groups.join(5).effects, [
    { kind: "group-changed", group: { streamId: 0, topicId: 0, groupId: 0 } },
  ]);
  assert.deepEqual(groups.owned(), { 5: [0, 1, 2] });
  const { generation } = groups.group;
  assert.deepEqual(groups.join(5).effects, []);
  assert.equal(groups.group.generation, generation);
});

test("a joining member gets what others have above their share, from the end of their lists", () => {
  const groups = GroupDriver.withPartitions(6);
  groups.join(5);
  groups.join(6);
  assert.deepEqual(groups.owned(), { 5: [0, 1, 2], 6: [3, 4, 5] });
  groups.join(7);
  assert.deepEqual(groups.owned(), { 5: [0, 1], 6: [3, 4], 7: [2, 5] });
});

test("with more members than partitions the surplus owns nothing, and shares differ by at most one", () => {
  const groups = GroupDriver.withPartitions(3);
  for (const client of [1, 2, 3, 4, 5]) {
    groups.join(client);
    const counts = groups.group.members.map(({ partitions }) => partitions.length);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
    assert.equal(
      counts.reduce((sum, one) => sum + one, 0),
      3,
    );
  }
  for (const client of [3, 1, 5, 2]) {
    groups.leave(client);
    const counts = groups.group.members.map(({ partitions }) => partitions.length);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, String(counts));
  }
  assert.deepEqual(groups.owned(), { 4: [0, 1, 2] });
});

test("a partition in flight stays with its owner until its revocation is completed", () => {
  const groups = GroupDriver.withPartitions(4);
  groups.join(1);
  groups.join(2, [3]);
  assert.deepEqual(groups.owned(), { 1: [0, 1, 3], 2: [2] });
  assert.deepEqual(groups.pending(), { 1: [3] });
  const { generation } = groups.group;
  assert.equal(groups.complete(3)?.code, 0);
  assert.deepEqual(groups.owned(), { 1: [0, 1], 2: [2, 3] });
  assert.deepEqual(groups.pending(), {});
  assert.equal(groups.group.generation, generation + 1);
});

test("a revocation that was completed or overtaken is completed without effect", () => {
  const groups = GroupDriver.withPartitions(2);
  groups.join(1);
  groups.join(2, [1]);
  const [pending] = groups.group.members[0]?.revocations ?? [];
  assert.ok(pending !== undefined);
  groups.leave(2);
  const before = groups.group;
  const body = encodeCompleteRevocationOp({ streamId: 0, topicId: 0, groupId: 0, source: 0, ...pending });
  const result = groups.driver.applyOp(MetadataOperation.completeConsumerGroupRevocation, body);
  assert.deepEqual([result.code, result.effects], [0, []]);
  assert.equal(groups.group, before);
});

test("who waits for a partition is not given another one, and what is pending does not count as a share", () => {
  const groups = GroupDriver.withPartitions(4);
  groups.join(1);
  groups.join(2, [0, 1, 2, 3]);
  assert.deepEqual(groups.pending(), { 1: [2, 3] });
  groups.join(3, [0, 1, 2, 3]);
  assert.deepEqual(groups.pending(), { 1: [2, 3] }, "two left are no more than a share of one and one more");
  groups.join(4, [0, 1, 2, 3]);
  assert.deepEqual(groups.pending(), { 1: [2, 3, 1] });
  const targets = groups.group.members[0]?.revocations.map(({ target }) => target);
  assert.deepEqual(targets, [1, 1, 2], "the newest member is behind the one that already waits for nothing");
});

test("leaving, logging out and being removed deal everything out anew and forget what was pending", () => {
  for (const end of ["leave", "logout", "removeMember"] as const) {
    const groups = GroupDriver.withPartitions(4);
    for (const client of [1, 2, 3]) groups.join(client, [0, 1, 2, 3]);
    const { generation } = groups.group;
    assert.equal(groups[end](1).effects.length, 1, end);
    assert.deepEqual(groups.owned(), { 2: [0, 2], 3: [1, 3] });
    assert.deepEqual(groups.pending(), {});
    assert.equal(groups.group.generation, generation + 1);
    assert.deepEqual(groups.driver.metadata.membershipsOf(1n), []);
  }
});

test("who leaves without being a member hears 5006, also the second time", () => {
  const groups = GroupDriver.withPartitions(1);
  assert.equal(groups.leave(1).code, ErrorCode.ConsumerGroupMemberNotFound);
  groups.join(1);
  assert.equal(groups.leave(1).code, 0);
  assert.equal(groups.leave(1).code, ErrorCode.ConsumerGroupMemberNotFound);
  assert.deepEqual(groups.logout(1).effects, []);
});

test("a slot that became free is given to the next member", () => {
  const groups = GroupDriver.withPartitions(2);
  for (const client of [1, 2, 3]) groups.join(client);
  groups.leave(2);
  groups.join(4);
  assert.deepEqual(
    groups.group.members.map(({ slot, client }) => [slot, client]),
    [
      [0, 1n],
      [1, 4n],
      [2, 3n],
    ],
  );
});

test("adding and removing partitions deals them out anew", () => {
  const groups = GroupDriver.withPartitions(2);
  groups.join(1);
  groups.join(2, [1]);
  const created = groups.driver.createPartitions("s", "t", 3);
  assert.deepEqual(
    created.effects.map(({ kind }) => kind),
    ["partition-created", "partition-created", "partition-created", "group-changed"],
  );
  assert.deepEqual(groups.owned(), { 1: [0, 2, 4], 2: [1, 3] });
  groups.driver.deletePartitions("s", "t", 5);
  assert.deepEqual(groups.owned(), { 1: [], 2: [] });
  groups.driver.createPartitions("s", "t", 1);
  assert.deepEqual(groups.owned(), { 1: [0], 2: [] });
});

test("a group dies with its topic and with its stream, and a new topic counts its groups from 0", () => {
  for (const what of ["topic", "stream"] as const) {
    const groups = GroupDriver.withPartitions(1);
    groups.create("h");
    groups.join(1);
    const { effects } =
      what === "topic"
        ? groups.driver.request(Operation.DeleteTopic, encodeDeleteTopic(GROUP))
        : groups.driver.request(Operation.DeleteStream, encodeDeleteStream(GROUP));
    assert.deepEqual(
      effects.map(({ kind }) => kind),
      ["group-deleted", "group-deleted", "partition-deleted"],
    );
    assert.deepEqual(groups.driver.metadata.membershipsOf(1n), []);
    assert.equal(groups.driver.metadata.counts().groups, 0);
    if (what === "stream") groups.driver.createStream("s");
    groups.driver.createTopic("s", "t", 1);
    assert.equal(groups.find(), undefined);
    assert.equal(decodeCreateConsumerGroupReply(groups.create("g").body).id, 0);
  }
});

test("memberships of a client are listed by place and end together", () => {
  const groups = GroupDriver.withPartitions(1);
  groups.create("h");
  const target = { ...GROUP, group: toIdentifier("h") };
  const join = encodeJoinGroupOp({ ...target, inFlight: [] });
  groups.driver.applyOp(MetadataOperation.joinConsumerGroup, join, 0, 1n);
  groups.join(1);
  const places = groups.driver.metadata.membershipsOf(1n);
  assert.deepEqual(
    places.map(({ groupId }) => groupId),
    [0, 1],
  );
  assert.deepEqual([...groups.driver.metadata.groupClients()], [1n]);
  assert.equal(groups.logout(1).effects.length, 2);
  assert.deepEqual([...groups.driver.metadata.groupClients()], []);
});

test("a user without rights may neither create, delete, join nor leave", () => {
  const groups = GroupDriver.withPartitions(1);
  groups.join(1);
  const join = encodeJoinGroupOp({ ...GROUP, inFlight: [] });
  const codes = [
    groups.driver.applyOp(MetadataOperation.joinConsumerGroup, join, 9, 2n).code,
    groups.driver.applyOp(MetadataOperation.leaveConsumerGroup, encodeJoinConsumerGroup(GROUP), 9, 1n).code,
    groups.driver.request(Operation.DeleteConsumerGroup, encodeJoinConsumerGroup(GROUP), 9).code,
  ];
  assert.deepEqual(codes, Array(3).fill(ErrorCode.Unauthorized));
});

test("a join reaches the log only with what partitions report", () => {
  assert.throws(() => admitRequest(Operation.JoinConsumerGroup, encodeJoinConsumerGroup(GROUP)));
});
