import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { silentLog } from "@millrace/platform";
import { decodeGetClusterMetadataReply } from "@millrace/protocol";
import { loadConfig } from "../config/load-config.ts";
import { LogSinks } from "../log/log-sinks.ts";
import { RawClient } from "../testing/raw-client.ts";
import { type RunningServer, startServer } from "./start-server.ts";

const ALONE = {
  MILLRACE_MEMORY_POOL_SIZE: "128 MiB",
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

async function start(folder: string, environment: Record<string, string>): Promise<RunningServer> {
  const { config, replica } = await loadConfig({ environment, dataPath: folder });
  return startServer({
    config,
    replica,
    environment,
    log: silentLog,
    sinks: new LogSinks({ write: () => {} }),
    fresh: false,
    withDefaultRootCredentials: true,
    onShardLost: () => assert.fail("there is one shard"),
    onRootUserLeft: () => {},
  });
}

/** Names that a client of this server is told. */
async function rosterOf({ listeners }: RunningServer) {
  const [, address = ""] = listeners.find(([name]) => name === "tcp") ?? [];
  const client = new RawClient(Number(address.split(":").at(-1)));
  assert.equal((await client.login("iggy", "iggy")).code, 0);
  const { payload } = await client.command("GetClusterMetadata");
  client.close();
  const { name, nodes } = decodeGetClusterMetadataReply(payload);
  return [name, ...nodes.map((node) => `${node.name} ${node.ip} ${node.role}`)];
}

const foreign = (pattern: RegExp) => (error: unknown) =>
  isCodedError(error, ErrorCode.ForeignDataDirectory) && pattern.test(error.message);

test("A cluster of one node serves under its names, and its data is no other cluster's and no lone server's.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-cluster-"));
  try {
    const alone = await start(folder, ALONE);
    assert.deepEqual(await rosterOf(alone), ["single-node", "iggy-node 127.0.0.1 leader"]);
    await alone.stop();
    const own = await start(folder, CLUSTER);
    assert.deepEqual(await rosterOf(own), ["orders", "first 127.0.0.1 leader"]);
    await own.stop();
    const other = start(folder, { ...CLUSTER, MILLRACE_CLUSTER_NAME: "payments" });
    await assert.rejects(other, foreign(/is of a cluster with another name: set cluster\.name as it was/));
    await assert.rejects(
      start(folder, ALONE),
      foreign(/is of a node of a cluster: set cluster\.enabled to true/),
    );
    const again = await start(folder, CLUSTER);
    await again.stop();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
