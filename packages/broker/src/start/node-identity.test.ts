import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import { openSuperblock } from "@millrace/storage";
import { METADATA_PATH } from "../metadata-plane/metadata-path.ts";
import { checkIdentity, keepIdentity, type NodeIdentity, STANDING_ALONE } from "./node-identity.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });
const log = silentLog;
const NODE: NodeIdentity = { cluster: 5n, replica: 1, replicaCount: 3 };

async function diskOf(identity: NodeIdentity): Promise<SimDisk> {
  const disk = new SimDisk();
  await disk.makeDirectory(METADATA_PATH);
  const superblock = await openSuperblock(disk, METADATA_PATH, kernel);
  await superblock.write({});
  await keepIdentity(superblock, identity);
  return disk;
}

const refused = (pattern: RegExp) => (error: unknown) =>
  isCodedError(error, ErrorCode.ForeignDataDirectory) && pattern.test(error.message);

describe("the data directory of a node", () => {
  it("is taken by that node, again and again", async () => {
    const disk = await diskOf(NODE);
    await checkIdentity({ disk, log, kernel }, NODE);
    const superblock = await openSuperblock(disk, METADATA_PATH, kernel);
    const { sequence } = superblock.record;
    await keepIdentity(superblock, NODE);
    assert.equal(superblock.record.sequence, sequence);
  });

  it("is refused by another node, by another cluster, by another roster and by a server that stands alone", async () => {
    const disk = await diskOf(NODE);
    const refusals: readonly (readonly [NodeIdentity, RegExp])[] = [
      [{ ...NODE, replica: 2 }, /is of replica 1, and this is replica 2: start with the --replica-id it had/],
      [{ ...NODE, cluster: 6n }, /is of a cluster with another name: set cluster\.name as it was/],
      [{ ...NODE, replicaCount: 5 }, /is of a cluster of 3 nodes, and the roster has 5/],
      [STANDING_ALONE, /is of a node of a cluster: set cluster\.enabled to true/],
    ];
    for (const [identity, pattern] of refusals) {
      await assert.rejects(checkIdentity({ disk, log, kernel }, identity), refused(pattern));
    }
  });

  it("that stood alone becomes that of a cluster of one node, and of no larger one", async () => {
    const disk = await diskOf(STANDING_ALONE);
    await checkIdentity({ disk, log, kernel }, STANDING_ALONE);
    await checkIdentity({ disk, log, kernel }, { cluster: 5n, replica: 0, replicaCount: 1 });
    const larger = checkIdentity({ disk, log, kernel }, { ...NODE, replica: 0 });
    await assert.rejects(larger, refused(/stood alone and cannot join 3 nodes/));
  });

  it("is anybody's before its first start", async () => {
    await checkIdentity({ disk: new SimDisk(), log, kernel }, NODE);
  });
});
