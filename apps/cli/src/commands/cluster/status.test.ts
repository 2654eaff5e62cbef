import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterGroups, ClusterNode, GroupStanding } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Client } from "../../connection/client.ts";
import { runFake } from "../../fakes/fake-world.ts";

type Seen = Pick<ClusterNode, "role" | "status">;

const LEADS: Seen = { role: "leader", status: "healthy" };
const FOLLOWS: Seen = { role: "follower", status: "healthy" };
const AWAY: Seen = { role: "follower", status: "unreachable" };

const noGroups: ClusterGroups = { nodes: [], partitions: [], next: undefined };

async function statusOf(seen: readonly Seen[]) {
  const nodes = seen.map((one, index) => ({
    ...one,
    ...{ name: `n${index}`, ip: "127.0.0.1", tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 },
  }));
  const client = {
    getClusterMetadata: async () => ({ name: "dev", nodes }),
    getClusterGroups: async () => noGroups,
    close: async () => {},
  };
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

/** What is shown of three nodes, given the pages of groups that they tell of. */
async function groupsShown(
  args: readonly string[],
  pages: readonly (ClusterGroups | CodedError)[],
  seen: readonly Seen[] = [LEADS, FOLLOWS, FOLLOWS],
) {
  const nodes = seen.map((one, index) => ({
    ...one,
    ...{ name: `n${index}`, ip: "127.0.0.1", tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 },
  }));
  const asked: unknown[] = [];
  const client = {
    getClusterMetadata: async () => ({ name: "dev", nodes }),
    getClusterGroups: async (request: unknown) => {
      asked.push(request);
      const page = pages[asked.length - 1];
      if (page instanceof CodedError) throw page;
      return page;
    },
    close: async () => {},
  };
  const ran = await runFake(["cluster", "status", ...args], { client: client as unknown as Client });
  return { ...ran, asked };
}

const normal = (view: number, commit: number) =>
  ({ status: "normal", view, op: commit + 1, commit }) as const;
const partition = (partitionId: number, standings: readonly (GroupStanding | undefined)[]) => ({
  ...{ streamId: 1, topicId: 2, partitionId },
  standings,
});
const NODES = [normal(3, 7), normal(3, 7), undefined].map((metadata, replica) => ({ replica, metadata }));

test("each node has a row for the metadata, and one for all partitions together", async () => {
  const first = partition(0, [normal(3, 10), normal(3, 8), normal(3, 10)]);
  const second = partition(1, [normal(4, 5), normal(4, 5), undefined]);
  const pages = [
    { nodes: NODES, partitions: [first], next: { streamId: 1, topicId: 2, partitionId: 0 } },
    { nodes: NODES, partitions: [second], next: undefined },
  ];
  const { stdout, asked } = await groupsShown(["--output", "json"], pages);
  const { metadata, partition_totals: totals, partitions } = JSON.parse(stdout);
  assert.deepEqual(
    metadata.map((row: Record<string, unknown>) => [row["node"], row["role"], row["commit"], row["lag"]]),
    [
      ["n0", "leads", 7, 0],
      ["n1", "follows", 7, 0],
      ["n2", "unknown", null, null],
    ],
  );
  assert.deepEqual(
    totals.map((row: Record<string, unknown>) => [row["leads_count"], row["out_count"], row["lag"]]),
    [
      [1, 0, 0],
      [1, 0, 2],
      [0, 1, null],
    ],
  );
  assert.equal(partitions, undefined);
  assert.deepEqual((asked[1] as Record<string, unknown>)["after"], pages[0]?.next);
});

test("partitions are shown one by one when asked for, up to the limit", async () => {
  const partitions = [0, 1, 2].map((id) => partition(id, [normal(0, 1), normal(0, 1), normal(0, 0)]));
  const pages = [{ nodes: NODES, partitions, next: undefined }];
  const args = ["--partitions", "--limit", "1", "--stream", "shop", "--topic", "orders"];
  const { stdout, asked } = await groupsShown(args, pages);
  assert.match(stdout, /The first 1 of 3 partitions/u);
  assert.match(stdout, /1\/2\/0/u);
  assert.doesNotMatch(stdout, /1\/2\/1/u);
  const { stream, topic } = asked[0] as Record<string, unknown>;
  assert.deepEqual([stream, topic], ["shop", "orders"]);
  const alone = await groupsShown(["--topic", "orders"], pages);
  assert.notEqual(alone.exitCode, 0);
});

test("a server that does not tell of its groups is shown without them", async () => {
  const { stdout, exitCode } = await groupsShown([], [new CodedError(ErrorCode.InvalidCommand)]);
  assert.match(stdout, /Views and lag are not shown/u);
  assert.equal(exitCode, 0);
});

test("a node without a majority is asked without a login, and says what it knows", async () => {
  const seen = [LEADS, AWAY, AWAY].map((one, index) => ({
    ...one,
    ...{ name: `n${index}`, ip: "127.0.0.1", tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 },
  }));
  let closed = 0;
  const observe = async () => ({
    getClusterMetadata: async () => ({ name: "dev", nodes: seen }),
    getClusterGroups: async () => noGroups,
    close: async () => {
      closed += 1;
    },
  });
  const ran = await runFake(["cluster", "status", "--output", "json"], { observe });
  const { takes_writes: writes, healthy_count: healthy, nodes } = JSON.parse(ran.stdout);
  assert.deepEqual([writes, healthy, ran.exitCode, closed], [false, 1, 1, 1]);
  assert.deepEqual(nodes.map(({ status }: Seen) => status), ["healthy", "unreachable", "unreachable"]); // biome-ignore format: one line
  assert.equal(ran.settings.length, 0, "nobody logged in");
});

test("what a node says that takes no login is what the person reads", async () => {
  const error = new CodedError(ErrorCode.TransientNotAccepted, "The node answers, and knows nobody.", {
    details: { next: "Start the other nodes." },
  });
  const observe = () => Promise.reject(error);
  const ran = await runFake(["cluster", "status"], { observe });
  assert.match(ran.stderr, /The node answers, and knows nobody\..*Start the other nodes\./s);
  assert.equal(ran.exitCode, 1);
});

test("of a node that does not answer nothing is known: neither its partitions nor its lag", async () => {
  const nodes = [normal(3, 7), undefined, normal(3, 7)].map((metadata, replica) => ({ replica, metadata }));
  const told = partition(0, [normal(3, 10), undefined, normal(3, 8)]);
  for (const partitions of [[], [told]]) {
    const page = { nodes, partitions, next: undefined };
    const json = await groupsShown(["--output", "json"], [page]);
    const rows = JSON.parse(json.stdout).partition_totals as Record<string, unknown>[];
    assert.deepEqual(rows.map((row) => row["lag"]), [0, null, 2 * partitions.length]); // biome-ignore format: one line
    assert.equal(rows[1]?.["partitions_count"], null);
    const table = await groupsShown([], [page]);
    assert.match(table.stdout, /n1 +│ unknown +│ unknown +│ \d +│ unknown/);
  }
});

/** What the summary and the nodes' rows say, and the exit code. */
async function seenIn(page: ClusterGroups) {
  const { stdout, exitCode } = await groupsShown(["--output", "json"], [page]);
  const { nodes, healthy_count, takes_writes, may_lose, partitions_without_leader } = JSON.parse(stdout);
  const statuses = nodes.map(({ status }: Record<string, unknown>) => status);
  return { statuses, numbers: [healthy_count, takes_writes, may_lose, partitions_without_leader], exitCode };
}

test("a node that lacks a log, or much of it, is catching up and no node that could be lost", async () => {
  const nodes = [3, 3, 3].map((view, replica) => ({ replica, metadata: normal(view, 7) }));
  const recovering = { status: "recovering", view: 3, op: 0, commit: 0 } as const;
  const pageOf = (third: GroupStanding, metadata: GroupStanding = normal(3, 7)): ClusterGroups => ({
    nodes: nodes.map((one) => (one.replica === 2 ? { ...one, metadata } : one)),
    partitions: [partition(0, [normal(3, 900), normal(3, 900), third])],
    next: undefined,
  });
  const behind = { statuses: ["healthy", "healthy", "catching up"], numbers: [2, true, 0, 0], exitCode: 0 };
  assert.deepEqual(await seenIn(pageOf(recovering)), behind);
  assert.deepEqual(await seenIn(pageOf(normal(3, 900), recovering)), behind);
  assert.deepEqual(await seenIn(pageOf(normal(3, 900 - 128))), behind);
  const well = { statuses: ["healthy", "healthy", "healthy"], numbers: [3, true, 1, 0], exitCode: 0 };
  assert.deepEqual(await seenIn(pageOf(normal(3, 900 - 127))), well);
});

test("a partition that nobody leads is counted, and the exit code says so", async () => {
  const nodes = [3, 3, 3].map((view, replica) => ({ replica, metadata: normal(view, 7) }));
  const electing = { status: "view-change", view: 5, op: 9, commit: 8 } as const;
  const partitions = [
    partition(0, [electing, electing, electing]),
    partition(1, [normal(3, 9), normal(3, 9), normal(3, 9)]),
  ];
  assert.deepEqual(await seenIn({ nodes, partitions, next: undefined }), {
    ...{ statuses: ["healthy", "healthy", "healthy"], numbers: [3, true, 1, 1], exitCode: 1 },
  });
});

/** Partitions without a leader, those of which it is not known, and the exit code; some do not answer. */
async function writesSeen(
  silent: readonly number[],
  partitions: ClusterGroups["partitions"],
  seen?: readonly Seen[],
) {
  const nodes = [0, 1, 2].map((replica) => ({
    replica,
    metadata: silent.includes(replica) ? undefined : normal(3, 7),
  }));
  const page = { nodes, partitions, next: undefined };
  const { stdout, exitCode } = await groupsShown(["--output", "json"], [page], seen);
  const { partitions_without_leader, partitions_leader_unknown } = JSON.parse(stdout);
  return [partitions_without_leader, partitions_leader_unknown, exitCode];
}

test("a leader that does not answer in time is not missing: its partitions are counted as not known", async () => {
  const led = [0, 1].map((id) => partition(id, [undefined, normal(3, 9), normal(3, 9)]));
  const other = partition(2, [undefined, normal(4, 9), normal(4, 9)]);
  assert.deepEqual(await writesSeen([0], [...led, other]), [0, 2, 0]);
  const page = { nodes: NODES, partitions: led, next: undefined };
  const nodes = NODES.map((one) => (one.replica === 0 ? { ...one, metadata: undefined } : one));
  const { stdout, exitCode } = await groupsShown([], [{ ...page, nodes }]);
  assert.match(stdout, /Partitions without leader +│ 0/);
  assert.match(stdout, /Partitions whose leader did not answer +│ 2/);
  assert.equal(exitCode, 0);
});

test("a leader that answered and does not lead, or is not reached, leaves its partitions without one", async () => {
  const unknownToIt = partition(0, [undefined, normal(3, 9), normal(3, 9)]);
  assert.deepEqual(await writesSeen([], [unknownToIt]), [1, 0, 1]);
  const silent = partition(0, [{ ...normal(3, 9), status: "silent" }, normal(3, 9), normal(3, 9)]);
  assert.deepEqual(await writesSeen([], [silent]), [1, 0, 1]);
  // Who leads the metadata is another node: the cluster takes writes.
  const away = [AWAY, LEADS, FOLLOWS];
  assert.deepEqual(await writesSeen([0], [unknownToIt], away), [1, 0, 1]);
});

test("those that have no view may not know of one that enough others are in", async () => {
  const recovering = { status: "recovering", view: 3, op: 0, commit: 0 } as const;
  const electing = { status: "view-change", view: 4, op: 9, commit: 8 } as const;
  const lone = partition(0, [recovering, undefined, undefined]);
  assert.deepEqual(await writesSeen([1, 2], [lone]), [0, 1, 0]);
  const most = partition(0, [electing, electing, undefined]);
  assert.deepEqual(await writesSeen([2], [most]), [1, 0, 1]);
});

test("a node that is connected and says nothing is no healthy one", async () => {
  const nodes = [normal(3, 7), normal(3, 7), undefined].map((metadata, replica) => ({ replica, metadata }));
  const seen = await seenIn({ nodes, partitions: [], next: undefined });
  assert.deepEqual(seen.statuses, ["healthy", "healthy", "no answer"]);
});

test("a server that stands alone leads all of its partitions, also those of its other shards", async () => {
  const client = {
    getClusterMetadata: async () => ({
      name: "single-node",
      nodes: [
        { ...LEADS, name: "one", ip: "::1", tcpPort: 8090, quicPort: 0, httpPort: 0, websocketPort: 0 },
      ],
    }),
    getClusterGroups: async () => ({
      nodes: [{ replica: 0, metadata: normal(0, 7) }],
      partitions: [partition(0, [normal(0, 4)]), partition(1, [undefined])],
      next: undefined,
    }),
    close: async () => {},
  };
  const ran = await runFake(["cluster", "status", "--output", "json"], {
    client: client as unknown as Client,
  });
  const { partition_totals: totals } = JSON.parse(ran.stdout);
  assert.deepEqual(totals, [{ node: "one", partitions_count: 2, leads_count: 2, out_count: 0, lag: 0 }]);
});
