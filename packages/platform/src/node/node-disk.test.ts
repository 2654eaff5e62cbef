import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeDiskCompliance } from "../disk.compliance.ts";
import { NodeDisk } from "./node-disk.ts";

describeDiskCompliance("NodeDisk", async () => {
  const root = await mkdtemp(join(tmpdir(), "millrace-disk-"));
  return { disk: new NodeDisk(root), remove: () => rm(root, { recursive: true, force: true }) };
});
