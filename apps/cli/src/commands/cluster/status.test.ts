import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterNode } from "@millrace/protocol";
import type { Client } from "../../connection/client.ts";
import { runFake } from "../../fakes/fake-world.ts";

type Seen = Pick<ClusterNode, "role" | "status">;

const LEADS: Seen = { role: "leader", status: "healthy" };
const FOLLOWS: Seen = { role: "follower", status: "healthy" };
const AWAY: Seen = { role: "follower", status: "unreachable" };

async function statusOf(seen: readonly Seen[]) {
  const nodes = seen.map((one, index) => ({
    ...one,
    ...{ name: `n${index}`, ip: "127.0.0.1", tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 },
  }));
  const client = { getClusterMetadata: async () => ({ name: "dev", nodes }), close: async () => {} };
  const ran = await runFake(["cluster", "status", "--output", "json"], {
    client: client as Partial<Client> as Client,
  });
  const { leader, takes_writes: writes, may_lose: spare } = JSON.parse(ran.stdout);
  return [leader, writes, spare, ran.exitCode];
}

test("a cluster takes writes while a quorum hears its leader, and may lose whom an election can spare", async () => {
  assert.deepEqual(await statusOf([FOLLOWS, LEADS, FOLLOWS]), ["n1", true, 1, 0]);
  assert.deepEqual(await statusOf([FOLLOWS, LEADS, AWAY]), ["n1", true, 0, 0]);
  assert.deepEqual(await statusOf([LEADS]), ["n0", true, 0, 0]);
  assert.deepEqual(await statusOf([LEADS, FOLLOWS]), ["n0", true, 0, 0]);
  assert.deepEqual(await statusOf([LEADS, FOLLOWS, FOLLOWS, FOLLOWS, AWAY]), ["n0", true, 1, 0]);
  // Of four nodes two store a write, and three elect.
  assert.deepEqual(await statusOf([LEADS, FOLLOWS, AWAY, AWAY]), ["n0", true, 0, 0]);
});

test("without a leader, or without a quorum, a cluster takes no writes and the exit code says so", async () => {
  assert.deepEqual(await statusOf([FOLLOWS, FOLLOWS, AWAY]), [null, false, 0, 1]);
  assert.deepEqual(await statusOf([LEADS, AWAY, AWAY]), ["n0", false, 0, 1]);
  assert.deepEqual(await statusOf([LEADS, AWAY]), ["n0", false, 0, 1]);
  const gone: Seen = { role: "leader", status: "unreachable" };
  assert.deepEqual(await statusOf([gone, FOLLOWS, FOLLOWS]), [null, false, 0, 1]);
});
