import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DiskCall } from "@millrace/platform/sim";
import { smallCluster } from "../testing/small-cluster.ts";
import { sendBody } from "../testing/test-batches.ts";

/** Longest time of a call to a disk in milliseconds, so that the files of a partition open for a while. */
const LATENCY_MAX_MS = 20;

const full = ({ kind, path }: DiskCall) =>
  kind === "write" && path.startsWith("streams/") ? ({ kind: "error", errno: "ENOSPC" } as const) : undefined;

describe("A stop while a silent replica begins anew", () => {
  for (const waitMs of [0, 5, 15, 30, 60]) {
    it(`waits for that and closes what it opened, ${waitMs} ms after its files were taken out of use.`, async () => {
      const { cluster, client, backups, groups } = await smallCluster();
      const [at] = backups;
      const [node, group] = [cluster.nodes[at], groups[at]];
      assert.ok(node !== undefined && group !== undefined);
      await cluster.drive(client.ok("SendMessages", sendBody(["a"])));
      node.disk.setFaults(full);
      await cluster.drive(client.ok("SendMessages", sendBody(["b"])));
      await cluster.until(() => cluster.silentGroups(at) === 1);
      node.diskLatencyMaxMs = LATENCY_MAX_MS;
      node.disk.setFaults(undefined);
      await cluster.until(() => group.partition === undefined);
      await cluster.clock.run(waitMs);
      const calls: string[] = [];
      await cluster.stopNode(at);
      node.disk.setFaults(({ kind, path }) => {
        calls.push(`${kind} ${path}`);
        return undefined;
      });
      await cluster.clock.run(1000);
      assert.deepEqual(calls, [], "nothing is done to the disk behind a stop");
      await cluster.stop();
    });
  }
});
