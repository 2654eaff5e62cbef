import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { decodeSyncConsumerGroupReply } from "@millrace/protocol";
import { bodyOf, restore } from "../testing/rights-fixture.ts";
import { TestServer } from "../testing/test-server.ts";

test("C-08: Who names another client leaves, joins and writes as himself, and that client stays a member.", async () => {
  const server = await TestServer.start();
  const member = await server.login(1n);
  const stranger = await server.login(2n);
  await restore(member);
  await member.ok("JoinConsumerGroup", bodyOf("JoinConsumerGroup"));
  const as = { client: 1n, session: member.session };
  const left = await stranger.command("LeaveConsumerGroup", bodyOf("LeaveConsumerGroup"), as);
  assert.equal(left.code, ErrorCode.ConsumerGroupMemberNotFound);
  const sync = await stranger.command("SyncConsumerGroup", bodyOf("SyncConsumerGroup"), as);
  assert.equal(sync.payload.length, 0, "no member");
  const own = decodeSyncConsumerGroupReply(await member.ok("SyncConsumerGroup", bodyOf("SyncConsumerGroup")));
  assert.deepEqual(own?.partitions, [0, 1]);
  await server.stop();
});
