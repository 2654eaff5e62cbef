import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeDiskCompliance } from "../disk.compliance.ts";
import { NodeDisk } from "./node-disk.ts";
import { createNodePlatform } from "./node-platform.ts";

/** More threads than any machine has cores: what the disk does where none is left for the thread pool. */
const THREADS = 100_000;

describeDiskCompliance("NodeDisk", async () => {
  const root = await mkdtemp(join(tmpdir(), "millrace-disk-"));
  return { disk: new NodeDisk(root), remove: () => rm(root, { recursive: true, force: true }) };
});

describeDiskCompliance("NodeDisk on cores that are all taken", async () => {
  const root = await mkdtemp(join(tmpdir(), "millrace-disk-"));
  const { disk } = createNodePlatform({ dataPath: root, threadsCount: THREADS });
  return { disk, remove: () => rm(root, { recursive: true, force: true }) };
});
