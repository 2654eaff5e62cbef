import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createReplica } from "./create-replica.ts";
import type { ReplicaOptions } from "./replica-options.ts";

const options: ReplicaOptions = {
  replica: 0,
  replicaCount: 1,
  cluster: 0n,
  prepareQueueDepth: 2,
  recovered: { view: 3, logView: 3, op: 41, commit: 40, checksum: 99n },
  checksumOf: ({ op }) => BigInt(op),
};

test("more than seven replicas are refused as unavailable", () => {
  assert.throws(
    () => createReplica({ ...options, replicaCount: 8 }),
    (error) => isCodedError(error, ErrorCode.FeatureUnavailable) && error.details["replicaCount"] === 8,
  );
});

test("a single replica continues its recovered log: the next op, chained to the last checksum", () => {
  const replica = createReplica(options);
  assert.deepEqual(
    [replica.status, replica.view, replica.op, replica.commit, replica.isPrimary],
    ["normal", 3, 41, 41, true],
  );
  const request = {
    client: 7n,
    session: 0,
    request: 1n,
    operation: 160,
    user: 0,
    timestamp: 5,
    body: "x",
    bodyChecksum: 0n,
  };
  const [write] = replica.step({ kind: "request", request });
  assert.ok(write?.kind === "journal-write");
  assert.deepEqual([write.prepare.op, write.prepare.view, write.prepare.parent], [42, 3, 99n]);
  assert.equal(replica.lastChecksum, 42n);
  assert.equal(replica.pipelineFree, 1);
});

test("the superblock's completion changes nothing in normal operation", () => {
  const replica = createReplica(options);
  assert.deepEqual(replica.step({ kind: "view-persisted", view: 9, logView: 9 }), []);
  assert.equal(replica.view, 3);
});

test("messages that a stranger sends, or that lie about their sender, change nothing", () => {
  const replica = createReplica(options);
  const prepareOk = { kind: "prepareOk", view: 3, op: 42, prepareChecksum: 42n, replica: 1 } as const;
  assert.deepEqual(replica.step({ kind: "message", from: 1, message: prepareOk }), []);
  assert.deepEqual(replica.step({ kind: "message", from: 2, message: prepareOk }), []);
  const commit = { kind: "commit", view: 3, commit: 99, commitChecksum: 0n } as const;
  assert.deepEqual(replica.step({ kind: "message", from: 0, message: commit }), []);
  assert.equal(replica.commit, 41);
});
