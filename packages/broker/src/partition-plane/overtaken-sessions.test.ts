import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease } from "@millrace/framing";
import { OvertakenSessions } from "./overtaken-sessions.ts";
import type { PartitionOp } from "./partition-op.ts";

const nothing = () => {};
const batchOf = (client: bigint, session?: number): PartitionOp => ({
  ...{ operation: 160, client, request: 1n, user: 1, committed: nothing, failed: nothing },
  batchLease: {} as Lease,
  ...(session === undefined ? {} : { session }),
});

test("a batch of a session before the one that asked is late, of that client alone", () => {
  const overtaken = new OvertakenSessions();
  assert.equal(overtaken.isLate(batchOf(7n, 3)), false);
  overtaken.asks({ client: 7n, session: 4 });
  const late = [batchOf(7n, 3), batchOf(7n, 4), batchOf(7n, 5), batchOf(8n, 3), batchOf(7n)];
  assert.deepEqual(late.map((op) => overtaken.isLate(op)), [true, false, false, false, false]); // biome-ignore format: one line
});

test("a question that comes late itself takes nothing back", () => {
  const overtaken = new OvertakenSessions();
  overtaken.asks({ client: 7n, session: 4 });
  overtaken.asks({ client: 7n, session: 2 });
  assert.equal(overtaken.isLate(batchOf(7n, 3)), true);
});

test("of more clients than it remembers it forgets those that asked longest ago", () => {
  const overtaken = new OvertakenSessions();
  for (let client = 1n; client <= 256n; client += 1n) overtaken.asks({ client, session: 4 });
  overtaken.asks({ client: 1n, session: 4 });
  overtaken.asks({ client: 257n, session: 4 });
  const isLate = (client: bigint) => overtaken.isLate(batchOf(client, 3));
  assert.deepEqual([isLate(1n), isLate(2n), isLate(3n), isLate(257n)], [true, false, true, true]);
});
