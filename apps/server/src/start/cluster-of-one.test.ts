import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { decodeGetClusterMetadataReply } from "@millrace/protocol";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";

const ALONE = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
};
const CLUSTER = {
  ...ALONE,
  MILLRACE_CLUSTER_ENABLED: "true",
  MILLRACE_CLUSTER_NAME: "orders",
  MILLRACE_CLUSTER_NODES_0_NAME: "first",
  MILLRACE_CLUSTER_NODES_0_IP: "127.0.0.1",
  MILLRACE_CLUSTER_NODES_0_REPLICA_ID: "0",
  MILLRACE_CLUSTER_NODES_0_PORTS_TCP: "8090",
  MILLRACE_CLUSTER_NODES_0_PORTS_TCP_REPLICA: "8190",
};

/** Runs a server in `folder` until `use` is done. */
async function serving(
  folder: string,
  environment: Record<string, string>,
  use: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  const args = ["--data", folder, "--with-default-root-credentials"];
  const server = new ServerProcess(args, environment);
  try {
    await server.port();
    await use(server);
  } finally {
    server.signal("SIGTERM");
    await server.exit();
  }
}

async function refusalIn(folder: string, environment: Record<string, string>, args: readonly string[] = []) {
  const server = new ServerProcess(["--data", folder, ...args], environment);
  assert.equal(await server.exit(), 1);
  return server.stderr;
}

test("A cluster of one node serves under its names, and its data is no other cluster's and no lone server's.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-cluster-"));
  try {
    await serving(folder, ALONE, async () => {});
    await serving(folder, CLUSTER, async (server) => {
      const client = new RawClient(await server.port());
      assert.equal((await client.login("iggy", "iggy")).code, 0);
      const { payload } = await client.command("GetClusterMetadata");
      const { name, nodes } = decodeGetClusterMetadataReply(payload);
      assert.deepEqual(
        [name, nodes[0]?.name, nodes[0]?.ip, nodes[0]?.role],
        ["orders", "first", "127.0.0.1", "leader"],
      );
      client.close();
    });
    const otherName = await refusalIn(folder, { ...CLUSTER, MILLRACE_CLUSTER_NAME: "payments" });
    assert.match(otherName, /is of a cluster with another name: set cluster\.name as it was/);
    const alone = await refusalIn(folder, ALONE);
    assert.match(alone, /is of a node of a cluster: set cluster\.enabled to true/);
    const unknown = await refusalIn(folder, CLUSTER, ["--replica-id", "4"]);
    assert.match(unknown, /cluster\.nodes has no node 4; start with --replica-id and one of 0/);
    await serving(folder, CLUSTER, async () => {});
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
