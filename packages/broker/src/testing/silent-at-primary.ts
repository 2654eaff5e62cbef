import assert from "node:assert/strict";
import type { DiskCall } from "@millrace/platform/sim";
import { newWriter, smallCluster } from "./small-cluster.ts";
import { sendBody } from "./test-batches.ts";

const broken = ({ kind, path }: DiskCall) =>
  kind === "write" && path.startsWith("streams/") ? ({ kind: "error", errno: "EIO" } as const) : undefined;

/**
 * A cluster whose node that leads the metadata has a silent replica of partition 0, which another one leads
 * and which holds one message; and a writer at the others. No node hears where the others stand in
 * partitions, so the metadata stays where it is.
 */
export async function silentAtPrimary() {
  const parts = await smallCluster();
  parts.cluster.losesStandings = true;
  const { cluster, client, primary, backups, groups } = parts;
  await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
  cluster.nodes[primary]?.disk.setFaults(broken);
  await cluster.drive(client.command("SendMessages", sendBody(["refused"])));
  await cluster.until(() => groups[primary]?.replication?.isStopped === true);
  const writer = await newWriter(cluster, backups);
  await cluster.clock.run(700);
  assert.equal(await cluster.metadataPrimary(), primary);
  return { ...parts, writer };
}
