import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ClusterNodes } from "../cluster/cluster-nodes.ts";
import { ClusterRun } from "../cluster/cluster-run.ts";
import { builtServer } from "../server/built-server.ts";

/** Every run of a scenario is the same one. */
const SEED = 5;

/**
 * A test of a fault scenario that needs a cluster: three built servers with writers on them. What was
 * acknowledged is judged when `run` is over.
 *
 * @param title  begins with the scenario's number; `docs/fault-scenarios.md` names it
 */
export function clusterScenario(title: string, run: (cluster: ClusterRun) => Promise<void>): void {
  test(title, async () => {
    const folder = mkdtempSync(join(tmpdir(), "millrace-scenario-"));
    const nodes = await ClusterNodes.prepare(builtServer(), folder);
    try {
      const cluster = new ClusterRun(nodes, SEED);
      await cluster.begin();
      await run(cluster);
      await cluster.finish();
    } finally {
      await nodes.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });
}
