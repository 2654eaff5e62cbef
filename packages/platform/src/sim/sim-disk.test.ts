import { describeDiskCompliance } from "../disk.compliance.ts";
import { SimDisk } from "./sim-disk.ts";

describeDiskCompliance("SimDisk", async () => ({
  disk: new SimDisk({ seed: 3 }),
  remove: () => Promise.resolve(),
}));
