import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Packet } from "@millrace/platform/sim";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody } from "../testing/test-polls.ts";
import { createSmallTopic, storeBody } from "../testing/test-topics.ts";

const CONSUMER = 1;
/** Time for everything that does not wait for another node. */
const SOON_MS = 20;

/** Of a partition's group, see docs/spec/replica-messages.md. */
const isOfPartition = ({ bytes }: Packet) => bytes[140] === 2;

/** A cluster with three messages whose leader the others do not hear, and two clients on that. */
async function withoutCommits() {
  const cluster = await TestCluster.start();
  const leader = await cluster.metadataPrimary();
  const [one, other] = [await cluster.login(leader, 20n), await cluster.login(leader, 21n)];
  await cluster.drive(createSmallTopic(one));
  for (const text of ["a", "b", "c"]) await cluster.drive(one.ok("SendMessages", sendBody([text])));
  cluster.passes = (packet) => packet.from !== leader || !isOfPartition(packet);
  return { cluster, leader, one, other };
}

/** Polls everything with auto-commit; tells how it was answered, once it was. */
function polling(client: TestClient): { code: number | undefined } {
  const poll: { code: number | undefined } = { code: undefined };
  void client.command("PollMessages", pollBody({ autoCommit: true })).then(({ code }) => {
    poll.code = code;
  });
  return poll;
}

async function storedOn(cluster: TestCluster, leader: number): Promise<number | undefined> {
  return (await cluster.group(leader, 0)).partition?.consumerOffset(1, CONSUMER);
}

describe("A poll with auto-commit", () => {
  it("is answered when its offset is committed, though another one stores it already.", async () => {
    const { cluster, leader, one, other } = await withoutCommits();
    const polls = [polling(one)];
    await cluster.clock.run(SOON_MS);
    polls.push(polling(other));
    await cluster.clock.run(SOON_MS);
    assert.equal(await storedOn(cluster, leader), undefined);
    assert.deepEqual(polls, [{ code: undefined }, { code: undefined }]);
    cluster.passes = () => true;
    await cluster.until(() => polls.every(({ code }) => code === 0));
    assert.equal(await storedOn(cluster, leader), 2);
    await cluster.stop();
  });

  it("is answered when its offset is committed, though it is as high as one that somebody is storing.", async () => {
    const { cluster, leader, one, other } = await withoutCommits();
    const storing = one.command("StoreConsumerOffset", storeBody(CONSUMER, 2));
    await cluster.clock.run(SOON_MS);
    const poll = polling(other);
    await cluster.clock.run(SOON_MS);
    assert.equal(await storedOn(cluster, leader), undefined);
    assert.equal(poll.code, undefined);
    cluster.passes = () => true;
    await cluster.until(() => poll.code === 0);
    assert.equal((await cluster.drive(storing)).code, 0);
    assert.equal(await storedOn(cluster, leader), 2);
    await cluster.stop();
  });

  it("fails as the one does that stores its offset.", async () => {
    const { cluster, one, other } = await withoutCommits();
    const polls = [polling(one), polling(other)];
    // Until the others have another leader.
    await cluster.until(() => polls.every(({ code }) => code !== undefined));
    assert.deepEqual(polls, [{ code: 57 }, { code: 57 }]);
    cluster.passes = () => true;
    await cluster.stop();
  });
});
