import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { type Line, recordedLog } from "../testing/recorded.ts";
import { smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";

const GONE = {
  "both superblocks": ["metadata/superblock.a", "metadata/superblock.b"],
  "the views of its partitions": ["metadata/views.wal"],
} as const;

describe("A node of a cluster that is started again", () => {
  for (const [what, paths] of Object.entries(GONE)) {
    it(`is refused without ${what}, and taken in with an empty folder.`, async () => {
      const { cluster, client, backups } = await smallCluster();
      await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
      const [at] = backups;
      cluster.kill(at);
      for (const path of paths) await cluster.nodes[at]?.disk.removeFile(path);
      await assert.rejects(cluster.startNode(at), (error) => isCodedError(error, ErrorCode.MetadataDamaged));
      cluster.wipe(at);
      await cluster.startNode(at);
      await cluster.until(() => cluster.groupNow(at, 0)?.partition?.committedNextOffset === 1);
      await cluster.stop();
    });
  }

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
