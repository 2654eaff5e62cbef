import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { ReplicaCommand } from "@millrace/framing";
import { encodeCreateStream, NO_OPTIONS, Operation } from "@millrace/protocol";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";
import { TestCluster } from "../testing/test-cluster.ts";

/** As many requests as may be on their way to the primary at once. */
const ON_THEIR_WAY_MAX = 512;
const ANSWER_MS = 1500;

describe("Requests that a backup passes on to the primary of the metadata", () => {
  it("are not more at once than the window has room for; what waits too long is refused with 58.", async () => {
    const cluster = await TestCluster.start();
    const primary = await cluster.metadataPrimary();
    const backup = (primary + 1) % 3;
    const { metadata } = cluster.broker(backup).shard;
    await cluster.until(() => metadata.isInformed);
    let [onTheirWay, most] = [0, 0];
    cluster.passes = ({ bytes }) => {
      if (bytes[60] === ReplicaCommand.forwardedRequest) onTheirWay += 1;
      most = Math.max(most, onTheirWay);
      return true;
    };
    cluster.delaysOf = ({ bytes }) => {
      if (bytes[60] !== ReplicaCommand.forwardedReply) return [1];
      cluster.clock.setTimer(ANSWER_MS, () => {
        onTheirWay -= 1;
      });
      return [ANSWER_MS];
    };
    const answers: MetadataAnswer[] = [];
    const count = 2 * ON_THEIR_WAY_MAX + 100;
    for (let at = 0; at < count; at += 1) {
      metadata.submit({
        ...{ client: SERVER_CLIENT, session: 0, request: 0n, operation: Operation.CreateStream, user: 0 },
        ...{ body: encodeCreateStream({ name: `s${at}`, options: NO_OPTIONS }), bodyChecksum: 0n },
        answered: (answer) => answers.push(answer),
      });
    }
    await cluster.until(() => answers.length === count);
    assert.equal(most, ON_THEIR_WAY_MAX);
    const refused = answers.filter((answer) => answer.kind === "refused");
    assert.deepEqual(new Set(refused.map(({ code }) => code)), new Set([ErrorCode.TransientNotAccepted]));
    assert.equal(refused.length, 100);
    assert.equal(cluster.broker(primary).shard.catalog.counts().streams, 2 * ON_THEIR_WAY_MAX);
    await cluster.stop();
  });
});
