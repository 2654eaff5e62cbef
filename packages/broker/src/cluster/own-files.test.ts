import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";

describe("A node of a cluster that is started again", () => {
  it("knows all files that it wrote.", async () => {
    const lines: Line[] = [];
    const { cluster, client, backups } = await smallCluster(1, { log: recordedLog(lines) });
    await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
    cluster.kill(backups[0]);
    lines.length = 0;
    await cluster.startNode(backups[0]);
    await cluster.clock.run(5000);
    assert.deepEqual(lines.filter(({ message }) => message.includes("is ignored")), []); // biome-ignore format: one line
    await cluster.stop();
  });
});
