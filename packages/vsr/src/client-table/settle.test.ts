import assert from "node:assert/strict";
import { test } from "node:test";
import type { Prepare } from "../prepare.ts";
import { Replica } from "../replica.ts";
import { ClientTable } from "./client-table.ts";
import { settle } from "./settle.ts";

const recovered = { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n };
const empty = new Uint8Array(0);

function request(client: bigint, operation: number, session = 0, number = 0n) {
  return {
    client,
    session,
    request: number,
    operation,
    user: 1,
    timestamp: 9,
    body: "token",
    bodyChecksum: 5n,
  };
}

function prepareOf(op: number, client: bigint, user: number): Prepare {
  const place = { view: 0, op, parent: 0n, checksum: 1n, replica: 0, commit: 0 };
  return { ...request(client, 1), user, ...place };
}

test("a host that replays its journal gets the table that the group had", () => {
  const clientTable = new ClientTable({ capacity: 2 });
  const checksumOf = ({ op }: { op: number }) => BigInt(op);
  const options = { replica: 0, replicaCount: 1, cluster: 0n, prepareQueueDepth: 4, recovered };
  const replica = new Replica({ ...options, clientTable, checksumOf });
  const journal: Prepare[] = [];
  const requests = [request(7n, 1), request(7n, 128, 1, 1n), request(8n, 1), request(8n, 3, 3, 1n)];
  for (const one of requests) {
    const [write] = replica.step({ kind: "request", request: one });
    assert.ok(write?.kind === "journal-write");
    journal.push(write.prepare);
    replica.step({ kind: "journal-written", op: write.prepare.op, checksum: write.prepare.checksum });
    replica.step({ kind: "applied", op: write.prepare.op, reply: Uint8Array.of(write.prepare.op) });
  }
  const replayed = new ClientTable({ capacity: 2 });
  for (const prepare of journal) settle(replayed, prepare, Uint8Array.of(prepare.op));
  assert.deepEqual(replayed.encode(), clientTable.encode());
  assert.equal(replayed.count, 1);
});

test("a reply names the request by its token and says the op as its commit", () => {
  const output = settle(new ClientTable(), prepareOf(4, 7n, 1), empty);
  assert.ok(output.kind === "reply");
  assert.deepEqual([output.context, output.op, output.commit, output.timestamp], ["token", 4, 4, 9]);
});

test("a committed Register that finds the id taken or the table full has no effect", () => {
  const table = new ClientTable({ capacity: 1 });
  settle(table, prepareOf(1, 7n, 1), empty);
  assert.deepEqual(settle(table, prepareOf(2, 7n, 2), empty), { kind: "evict", client: 7n, reason: 12 });
  const refusal = { kind: "reject", code: 58, client: 8n, request: 0n, operation: 1 };
  assert.deepEqual(settle(table, prepareOf(3, 8n, 1), empty), refusal);
  assert.deepEqual(
    table.sessions().map(({ client, epoch }) => [client, epoch]),
    [[7n, 1]],
  );
});
