import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeDeleteTopic, toIdentifier } from "@millrace/protocol";
import { packPartition } from "../../routing/pack-partition.ts";
import { sendBody } from "../../testing/test-batches.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer } from "../../testing/test-server.ts";
import { createSmallTopic } from "../../testing/test-topics.ts";

const PARTITIONS_COUNT = 6;
const PARTITIONS = Array.from({ length: PARTITIONS_COUNT }, (_, id) => id);
const TARGET = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function countingClient(server: TestServer): Promise<TestClient> {
  const client = server.connect();
  await server.drive(client.login({ client: 20n, sdkName: "millrace-node" }));
  return client;
}

async function once(client: TestClient) {
  const body = sendBody(["once"], { partitioning: { kind: "balanced" } });
  const answer = await client.command("SendMessages", body, { request: 1n });
  assert.equal(answer.eviction, undefined);
  return answer;
}

/** A server whose partitions were all taken out of use, one send before that is to come again. */
async function withPartitionsOut(shardsCount: number) {
  const server = await TestServer.start({ shardsCount });
  const root = await server.login();
  await server.drive(createSmallTopic(root, {}, PARTITIONS_COUNT));
  const first = await countingClient(server);
  assert.equal((await server.drive(once(first))).code, 0);
  first.close();
  await server.platform.clock.run(100);
  const again = await countingClient(server);
  const groups = PARTITIONS.map((id) => server.groupOf(packPartition(0, 0, id)));
  const putBack = groups.map((group) => {
    const partition = group.takeOut();
    assert.ok(partition !== undefined);
    return () => group.opened(partition);
  });
  return { server, root, again, groups, putBack };
}

async function storedCount(server: TestServer, client: TestClient): Promise<number> {
  let count = 0;
  for (const partitionId of PARTITIONS) {
    const payload = await server.drive(client.ok("PollMessages", pollBody({ partitionId, count: 100 })));
    count += polled(payload).messages.length;
  }
  return count;
}

for (const shardsCount of [1, 3]) {
  describe(`A send that is looked for in partitions out of use, with ${shardsCount} shards`, () => {
    it("waits until they are open, and is stored once.", async () => {
      const { server, root, again, putBack } = await withPartitionsOut(shardsCount);
      const sent = once(again);
      await server.platform.clock.run(200);
      for (const open of putBack) open();
      assert.equal((await server.drive(sent)).code, 0);
      assert.equal(await storedCount(server, root), 1);
      await server.stop();
    });

    it("is answered with 58 when they could not be opened.", async () => {
      const { server, root, again, groups, putBack } = await withPartitionsOut(shardsCount);
      const sent = once(again);
      await server.platform.clock.run(200);
      for (const group of groups) group.opened(new CodedError(ErrorCode.IoError));
      assert.equal((await server.drive(sent)).code, ErrorCode.TransientNotAccepted);
      assert.equal((await server.drive(once(again))).code, ErrorCode.TransientNotAccepted);
      for (const [at, open] of putBack.entries()) {
        groups[at]?.takeOut();
        open();
      }
      assert.equal((await server.drive(once(again))).code, 0);
      assert.equal(await storedCount(server, root), 1);
      await server.stop();
    });

    it("is answered with 58 when that takes too long.", async () => {
      const { server, again, putBack } = await withPartitionsOut(shardsCount);
      assert.equal((await server.drive(once(again))).code, ErrorCode.TransientNotAccepted);
      for (const open of putBack) open();
      assert.equal((await server.drive(once(again))).code, 0);
      await server.stop();
    });

    it("is answered when the topic is deleted meanwhile.", async () => {
      const { server, root, again, putBack } = await withPartitionsOut(shardsCount);
      const sent = once(again);
      const deleted = root.ok("DeleteTopic", encodeDeleteTopic(TARGET));
      await server.platform.clock.run(200);
      for (const open of putBack) open();
      await server.drive(deleted);
      assert.notEqual((await server.drive(sent)).code, 0);
      assert.equal((await server.drive(once(again))).code, ErrorCode.ResourceNotFound);
      await server.stop();
    });
  });
}
