import assert from "node:assert/strict";
import { test } from "node:test";
import { CLUSTER_TIMING } from "../cluster-timing.ts";
import { Replica } from "../replica.ts";

const PATIENCE = CLUSTER_TIMING.heartbeatTimeout;

/** Replica 0 of three, primary of the first view, with ops 1 to 3 that nobody acknowledges. */
function waitingPrimary(): Replica {
  const replica = new Replica({
    ...{ replica: 0, replicaCount: 3, cluster: 0n, prepareQueueDepth: 4 },
    recovered: { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n, isNew: true },
    checksumOf: ({ op }) => BigInt(op),
  });
  for (const timestamp of [1, 2, 3]) {
    const whose = { client: 0n, session: 0, request: 0n, user: 0 };
    const what = { operation: 160, timestamp, body: undefined, bodyChecksum: 0n };
    replica.step({ kind: "request", request: { ...whose, ...what } });
  }
  return replica;
}

/** Whether it asks for the next view within so many ticks. */
function asksWithin(replica: Replica, ticks: number): boolean {
  for (let tick = 0; tick < ticks; tick += 1) {
    const outputs = replica.step({ kind: "tick" });
    if (outputs.some((one) => one.kind === "send" && one.message.kind === "startViewChange")) return true;
  }
  return false;
}

function asksFor(replica: Replica, op: number, view = 0): void {
  const message = { kind: "requestPrepare", view, replica: 1, op, prepareChecksum: 0n } as const;
  replica.step({ kind: "message", from: 1, message });
}

test("a primary that commits nothing leads on while a backup asks it for later and later ops", () => {
  const replica = waitingPrimary();
  for (const op of [1, 2, 3]) {
    assert.equal(asksWithin(replica, PATIENCE - 1), false);
    asksFor(replica, op);
  }
  assert.equal(asksWithin(replica, PATIENCE - 1), false);
  assert.equal(asksWithin(replica, 1), true, "the backup has all there is, and acknowledges nothing");
});

test("a backup that asks for the same again, in another view, or for what there is not, gives its primary no patience", () => {
  const replica = waitingPrimary();
  asksFor(replica, 2);
  assert.equal(asksWithin(replica, PATIENCE - 1), false);
  for (const op of [2, 1]) asksFor(replica, op);
  asksFor(replica, 3, 1);
  asksFor(replica, 4);
  assert.equal(asksWithin(replica, 1), true);
});
