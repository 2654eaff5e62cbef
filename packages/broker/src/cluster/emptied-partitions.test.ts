import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { encodeGetConsumerOffset, toIdentifier } from "@millrace/protocol";
import { isPartitions, type SmallCluster } from "../testing/small-cluster.ts";
import { pollBody } from "../testing/test-polls.ts";
import { equalEverywhere, FOLDER, openedOn, written } from "./damaged-partitions-fixture.test.ts";

const PLACE = { stream: toIdentifier(0), topic: toIdentifier(0), partitionId: 0 };
const CONSUMER = { kind: "consumer", id: toIdentifier(7) } as const;

/** Takes away what a stopped node has of the partition. */
type Loss = (parts: SmallCluster, at: number) => Promise<void>;

const emptied: Loss = async ({ cluster }, at) => {
  const { disk } = cluster.nodes[at]!;
  const [folder] = await disk.readDirectory(FOLDER);
  const path = `${FOLDER}/${folder?.name}`;
  for (const { name } of await disk.readDirectory(path)) await disk.removeFile(`${path}/${name}`);
};

const LOSSES: Readonly<Record<string, Loss>> = {
  "all files of a partition": emptied,
  "its whole directory": async ({ cluster }, at) => cluster.wipe(at),
};

describe("A node that lost, and does not reach the others' partitions,", () => {
  for (const [what, lose] of Object.entries(LOSSES)) {
    it(`${what}: shows no empty partition, but waits for the log of a view.`, async () => {
      const parts = await written();
      const { cluster, backups } = parts;
      const [at] = backups;
      cluster.kill(at);
      await lose(parts, at);
      cluster.passes = (packet) => !isPartitions(packet);
      await cluster.startNode(at);
      await cluster.until(() => cluster.groupNow(at, 0) !== undefined);
      await openedOn(parts, at);
      const reader = await cluster.login(at, 300n);
      const asked = encodeGetConsumerOffset({ ...PLACE, consumer: CONSUMER });
      for (const [command, body] of [
        ["PollMessages", pollBody({ count: 100 })],
        ["GetConsumerOffset", asked],
      ] as const) {
        const { code } = await cluster.drive(reader.command(command, body));
        assert.equal(code, ErrorCode.TransientNotAccepted, command);
      }
      reader.close();
      cluster.passes = () => true;
      await cluster.until(() => cluster.groupNow(at, 0)?.replica?.status === "normal");
      assert.equal(cluster.groupNow(at, 0)?.isLost, false);
      await equalEverywhere(parts);
      await cluster.stop();
    });
  }
});
