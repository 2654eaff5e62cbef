import assert from "node:assert/strict";
import { test } from "node:test";
import { ReplicaCommand } from "@millrace/framing";
import { VOUCHED_SESSIONS_MAX } from "@millrace/protocol";
import { TestCluster } from "../testing/test-cluster.ts";

const GRACE_MS = 16_000;
const CONFIG = {
  heartbeat: { isEnabled: false, intervalMs: 4000 },
  recoveredSessionGraceMs: GRACE_MS,
};
/** More than one message names. */
const CLIENTS = VOUCHED_SESSIONS_MAX + 40;
/** Logins on their way at once: there is room for so many. */
const AT_ONCE = 64;
/** Place of the count in a `vouch`, see docs/spec/replica-messages.md. */
const COUNT_AT = 160;

test("A node vouches for more sessions than one message names in several, and none of them ends.", async () => {
  const cluster = await TestCluster.start(3, { config: CONFIG });
  const primary = await cluster.metadataPrimary();
  const backup = (primary + 1) % 3;
  (await cluster.login(backup, 1n)).close();
  for (let first = 0; first < CLIENTS; first += AT_ONCE) {
    const some = Math.min(AT_ONCE, CLIENTS - first);
    const logins = Array.from({ length: some }, async (_, at) => {
      const answer = await cluster.connect(backup).login({ client: BigInt(100 + first + at) });
      assert.equal(answer.code, 0);
    });
    await cluster.drive(Promise.all(logins));
  }
  const counts: number[] = [];
  cluster.passes = ({ from, bytes }) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    if (from === backup && bytes[60] === ReplicaCommand.vouch) counts.push(view.getUint32(COUNT_AT, true));
    return true;
  };
  await cluster.clock.run(3 * GRACE_MS);
  assert.deepEqual(counts.slice(0, 2), [VOUCHED_SESSIONS_MAX, CLIENTS - VOUCHED_SESSIONS_MAX]);
  const { clientTable } = cluster.broker(primary).shard.metadata;
  const left = new Set(clientTable.sessions().map(({ client }) => client));
  assert.equal([...left].filter((client) => client >= 100n).length, CLIENTS);
  assert.equal(left.has(1n), false, "one that is not connected any more did end");
  await cluster.stop();
});
