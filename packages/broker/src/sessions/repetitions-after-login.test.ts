import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { TestCluster } from "../testing/test-cluster.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";
import { createSmallTopic } from "../testing/test-topics.ts";

const COUNTING_SDK = "millrace-node";
const SENDS_COUNT = 12;
const bodyOf = (text: string) => sendBody([text], { partitioning: { kind: "balanced" } });

/** A cluster with a topic of three partitions, one of which nobody leads: who asks all of them hears 58. */
async function withoutLeader() {
  const cluster = await TestCluster.start();
  const leader = await cluster.metadataPrimary();
  const root = await cluster.login(leader);
  await cluster.drive(createSmallTopic(root, {}, 3));
  for (const at of [0, 1, 2]) for (const id of [0, 1, 2]) await cluster.group(at, id);
  for (const at of [0, 1, 2]) await cluster.groupNow(at, 0)?.replication?.stop();
  return { cluster, leader };
}

/** What the first sends of a client are answered with, from number 1 on. */
async function codesOf(sdkName: string, context: string): Promise<number[]> {
  const { cluster, leader } = await withoutLeader();
  const client = await cluster.login(leader, 20n, sdkName, context);
  const codes: number[] = [];
  for (let number = 1n; number <= SENDS_COUNT; number += 1n) {
    const sent = client.command("SendMessages", bodyOf("x"), { request: number });
    codes.push((await cluster.drive(sent)).code);
  }
  await cluster.stop();
  return codes;
}

const refusedCount = (codes: readonly number[]) =>
  codes.filter((code) => code === ErrorCode.TransientNotAccepted).length;

describe("A topic one of whose partitions nobody leads", () => {
  it("takes the sends of a client that sends all of them for the first time.", async () => {
    assert.equal(refusedCount(await codesOf(COUNTING_SDK, "next-request=1")), SENDS_COUNT / 3);
  });

  it("takes no send of a client's that may come again, and the others.", async () => {
    const codes = await codesOf(COUNTING_SDK, "next-request=7");
    assert.equal(refusedCount(codes.slice(0, 6)), 6);
    assert.equal(refusedCount(codes.slice(6)), 2);
  });

  it("takes none of a client whose login does not tell, or not in that form.", async () => {
    assert.equal(refusedCount(await codesOf(COUNTING_SDK, "")), SENDS_COUNT);
    assert.equal(refusedCount(await codesOf(COUNTING_SDK, "next-request=01")), SENDS_COUNT);
  });

  it("takes the sends of a client whose numbers do not count, whatever its login says.", async () => {
    assert.equal(refusedCount(await codesOf("test", "next-request=100")), SENDS_COUNT / 3);
  });
});

describe("A login that tells which numbers are new", () => {
  const loggedIn = async (server: TestServer, context: string): Promise<TestClient> => {
    const client = server.connect();
    await server.drive(client.login({ client: 20n, sdkName: COUNTING_SDK, context }));
    return client;
  };

  it("leaves those below it to be found, also far behind the first that comes.", async () => {
    const server = await TestServer.start();
    const root = await server.login();
    await server.drive(createSmallTopic(root, {}, 3));
    const first = await loggedIn(server, "next-request=1");
    for (let number = 1n; number <= 200n; number += 1n)
      await server.drive(first.command("SendMessages", bodyOf(`m${number}`), { request: number }));
    first.close();
    await server.platform.clock.run(100);
    const again = await loggedIn(server, "next-request=201");
    for (const number of [40n, 200n]) {
      const sent = again.command("SendMessages", bodyOf(`m${number}`), { request: number });
      assert.equal((await server.drive(sent)).code, 0);
    }
    let count = 0;
    for (const partitionId of [0, 1, 2]) {
      const poll = pollBody({ partitionId, count: 1000 });
      count += polled(await server.drive(root.ok("PollMessages", poll))).messages.length;
    }
    assert.equal(count, 200);
    await server.stop();
  });
});
