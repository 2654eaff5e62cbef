import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReplyFields } from "../output.ts";
import { ClientTable, REPLIES_PER_CLIENT_MAX } from "./client-table.ts";

const ALICE = 3;

function replyOf(client: bigint, request: bigint, op: number, body = "ok"): ReplyFields {
  const bytes = new TextEncoder().encode(body);
  return { client, request, op, view: 0, commit: op, timestamp: 1, operation: 128, body: bytes };
}

function tableWithClient(): ClientTable {
  const table = new ClientTable({ capacity: 4 });
  assert.equal(table.register(7n, ALICE, 10), "registered");
  return table;
}

const requestOf = (request: bigint, session = 10, bodyChecksum = 0n) => ({
  client: 7n,
  session,
  request,
  bodyChecksum,
});

test("a client that never registered is evicted with reason 1", () => {
  const admission = new ClientTable().admit(requestOf(1n));
  assert.deepEqual(admission, { kind: "evict", reason: 1 });
});

test("an older session is evicted with reason 7 and a younger one hears nothing", () => {
  const table = tableWithClient();
  assert.deepEqual(table.admit(requestOf(1n, 9)), { kind: "evict", reason: 7 });
  assert.deepEqual(table.admit(requestOf(1n, 11)), { kind: "drop", reason: "session-unknown" });
});

test("a request above the watermark executes, gaps included", () => {
  const table = tableWithClient();
  assert.deepEqual(table.admit(requestOf(1n)), { kind: "execute" });
  table.record(replyOf(7n, 5n, 11), 0n);
  assert.deepEqual(table.admit(requestOf(6n)), { kind: "execute" });
  assert.deepEqual(table.admit(requestOf(2n ** 64n - 1n)), { kind: "execute" });
});

test("a repeated request gets the same reply while its checksum is equal or absent on either side", () => {
  const table = tableWithClient();
  table.record(replyOf(7n, 1n, 11, "given"), 42n);
  table.record(replyOf(7n, 2n, 12, "absent"), 0n);
  for (const request of [requestOf(1n, 10, 42n), requestOf(1n, 10, 0n), requestOf(2n, 10, 42n)]) {
    const admission = table.admit(request);
    assert.ok(admission.kind === "replay");
    assert.equal(admission.reply.request, request.request);
  }
});

test("a request number used for another body hears nothing", () => {
  const table = tableWithClient();
  table.record(replyOf(7n, 1n, 11), 42n);
  assert.deepEqual(table.admit(requestOf(1n, 10, 43n)), { kind: "drop", reason: "checksum-differs" });
});

test("the latest five replies are kept; an older request was applied already", () => {
  const table = tableWithClient();
  for (let request = 1; request <= REPLIES_PER_CLIENT_MAX + 1; request += 1) {
    table.record(replyOf(7n, BigInt(request), 10 + request), 0n);
  }
  assert.deepEqual(table.admit(requestOf(1n)), { kind: "already-applied" });
  assert.equal(table.admit(requestOf(2n)).kind, "replay");
  assert.equal(table.admit(requestOf(6n)).kind, "replay");
});

test("registering again keeps watermark and replies and raises the epoch", () => {
  const table = tableWithClient();
  table.record(replyOf(7n, 3n, 11), 0n);
  assert.equal(table.register(7n, ALICE, 12), "registered");
  assert.deepEqual(table.admit(requestOf(4n, 10)), { kind: "evict", reason: 7 });
  assert.equal(table.admit(requestOf(3n, 12)).kind, "replay");
  assert.deepEqual(table.admit(requestOf(4n, 12)), { kind: "execute" });
  assert.equal(table.count, 1);
});

test("a client id that belongs to another user cannot be registered", () => {
  const table = tableWithClient();
  assert.equal(table.register(7n, ALICE + 1, 12), "other-user");
  assert.equal(table.session(7n)?.epoch, 10);
});

test("a full table refuses the newcomer and evicts nobody", () => {
  const table = new ClientTable({ capacity: 2 });
  table.register(1n, ALICE, 1);
  table.register(2n, ALICE, 2);
  assert.equal(table.register(3n, ALICE, 3), "full");
  assert.equal(table.register(1n, ALICE, 4), "registered");
  assert.deepEqual(
    table.sessions().map(({ client }) => client),
    [1n, 2n],
  );
  table.remove(2n);
  assert.equal(table.register(3n, ALICE, 5), "registered");
});

test("seats promised to registers in flight count as taken", () => {
  const table = new ClientTable({ capacity: 2 });
  table.register(1n, ALICE, 1);
  assert.equal(table.registrationOf(2n, ALICE, 0), "registered");
  assert.equal(table.registrationOf(2n, ALICE, 1), "full");
});

test("the bytes of all replies are bounded; the oldest go first", () => {
  const table = new ClientTable({ replyBytesMax: 10 });
  table.register(7n, ALICE, 10);
  table.register(8n, ALICE, 11);
  table.record(replyOf(7n, 1n, 12, "12345"), 0n);
  table.record(replyOf(8n, 1n, 13, "12345"), 0n);
  table.record(replyOf(8n, 2n, 14, "1"), 0n);
  assert.equal(table.admit(requestOf(1n)).kind, "already-applied");
  assert.equal(table.session(8n)?.replies.length, 2);
});

test("a reply for a client that is gone is not kept", () => {
  const table = tableWithClient();
  table.remove(7n);
  table.remove(7n);
  table.record(replyOf(7n, 1n, 11), 0n);
  assert.equal(table.count, 0);
});

test("a Logout executes whatever its request number, for the newest session only", () => {
  const table = new ClientTable();
  table.register(7n, 1, 5);
  table.record(
    {
      client: 7n,
      request: 9n,
      op: 6,
      view: 0,
      commit: 6,
      timestamp: 1,
      operation: 128,
      body: new Uint8Array(0),
    },
    0n,
  );
  assert.deepEqual(table.admitLogout({ client: 7n, session: 5 }), { kind: "execute" });
  assert.deepEqual(table.admitLogout({ client: 7n, session: 4 }), { kind: "evict", reason: 7 });
  assert.deepEqual(table.admitLogout({ client: 7n, session: 6 }), {
    kind: "drop",
    reason: "session-unknown",
  });
  assert.deepEqual(table.admitLogout({ client: 8n, session: 5 }), { kind: "evict", reason: 1 });
});

test("the host's own id cannot be registered by a client", () => {
  const table = new ClientTable();
  assert.equal(table.register(0n, ALICE, 1), "other-user");
  assert.equal(table.count, 0);
});
