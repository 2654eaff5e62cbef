import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreateConsumerGroup,
  encodeDeleteConsumerOffset,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeStoreConsumerOffset,
} from "@millrace/protocol";
import { GROUP, GROUP_CONSUMER } from "../testing/test-groups.ts";
import { TestServer } from "../testing/test-server.ts";
import {
  createSmallTopic,
  deleteSegmentsBody,
  earliestOf,
  fillSegments,
  partitionOf,
} from "../testing/test-topics.ts";

const place = { stream: GROUP.stream, topic: GROUP.topic, partitionId: 0, consumer: GROUP_CONSUMER } as const;
const FORGET = encodeDeleteConsumerOffset({ ...place, ack: "quorum" });

test("A group keeps what it has not committed; its offset is its member's to delete, and anybody's once it has none.", async () => {
  const server = await TestServer.start();
  const member = await server.login(1n);
  const other = await server.login(2n);
  await createSmallTopic(member);
  await member.ok("CreateConsumerGroup", encodeCreateConsumerGroup({ ...GROUP, name: "g" }));
  await fillSegments(member, 3);
  await member.ok("JoinConsumerGroup", encodeJoinConsumerGroup(GROUP));
  await member.ok("StoreConsumerOffset", encodeStoreConsumerOffset({ ...place, offset: 2n, ack: "quorum" }));
  await other.ok("DeleteSegments", deleteSegmentsBody(9));
  assert.equal(await earliestOf(other), 2, "offset 2 is done and 3 is not");
  const [holder] = (await partitionOf(other)).holders;
  assert.deepEqual([holder?.kind, holder?.name, holder?.isOwned, holder?.segmentsCount], [2, "g", true, 2]);
  const refused = await other.command("DeleteConsumerOffset", FORGET);
  assert.equal(
    refused.code,
    ErrorCode.ResourceNotFound,
    "a member reads it: nobody else may make it begin anew",
  );
  await member.ok("LeaveConsumerGroup", encodeLeaveConsumerGroup(GROUP));
  assert.equal((await partitionOf(other)).holders[0]?.isOwned, false);
  await other.ok("DeleteConsumerOffset", FORGET);
  const gone = await other.command("DeleteConsumerOffset", FORGET);
  assert.equal(gone.code, ErrorCode.ConsumerOffsetNotFound);
  await other.ok("DeleteSegments", deleteSegmentsBody(9));
  assert.equal(await earliestOf(other), 6);
  await server.stop();
});

test("Where many keep a partition the sixteen with the lowest offsets are named, and all are counted.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await createSmallTopic(client);
  await fillSegments(client, 2);
  for (let id = 1; id <= 20; id++) {
    const consumer = { kind: "consumer", id: { kind: "numeric", id } } as const;
    const body = { ...place, consumer, offset: id === 20 ? 0n : 2n, ack: "quorum" } as const;
    await client.ok("StoreConsumerOffset", encodeStoreConsumerOffset(body));
  }
  const { holders, holdersCount } = await partitionOf(client);
  assert.deepEqual([holders.length, holdersCount, holders[0]?.id], [16, 20, 20]);
  await server.stop();
});
