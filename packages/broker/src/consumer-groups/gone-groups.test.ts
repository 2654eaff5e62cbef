import assert from "node:assert/strict";
import { test } from "node:test";
import { SimDisk } from "@millrace/platform/sim";
import { encodeDeleteConsumerGroup } from "@millrace/protocol";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { commit, createGroup, GROUP, join, pollGroup, sendTo } from "../testing/test-groups.ts";
import { TestServer } from "../testing/test-server.ts";
import { GROUP_KIND } from "./group-kind.ts";

const DELETE_GROUP = encodeDeleteConsumerGroup(GROUP);
const MINUTE_MS = 60_000;
const REFUSED = "The offset of a deleted group could not be removed.";

/** A group that has read three of five messages of partition 0 and said so. */
async function readSome(root: TestClient, drive: <T>(promise: Promise<T>) => Promise<T>): Promise<void> {
  await drive(createGroup(root, 1));
  await drive(sendTo(root, 0, 5));
  await drive(join(root));
  assert.equal((await drive(pollGroup(root, 0))).messages.length, 5);
  assert.equal(await drive(commit(root, 0, 2)), 0);
}

test("The offset of a group that is gone is kept quietly by a partition that cannot write, and goes once it can.", async () => {
  const lines: Line[] = [];
  const disk = new SimDisk();
  const server = await TestServer.start({ disk, log: recordedLog(lines), shardsCount: 1 });
  const root = await server.login();
  await readSome(root, (promise) => server.drive(promise));
  disk.setSpace(0);
  assert.notEqual((await server.drive(root.command("SendMessages", sendBody(["no room"])))).code, 0);
  // Enough for the metadata, and less than a partition goes on with.
  disk.setSpace(4_194_304);
  await server.drive(root.ok("DeleteConsumerGroup", DELETE_GROUP));
  await server.platform.clock.run(10 * MINUTE_MS);
  const { partition } = server.groupOf(0);
  assert.deepEqual(partition?.consumerOffsetIds(GROUP_KIND), [0]);
  assert.ok(lines.filter(({ message }) => message === REFUSED).length <= 1);
  disk.setSpace(2 ** 30);
  await server.platform.clock.run(2 * MINUTE_MS);
  assert.deepEqual(partition?.consumerOffsetIds(GROUP_KIND), []);
  await server.stop();
});
