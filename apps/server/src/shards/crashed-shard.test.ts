import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  decodeGetTopicReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeGetTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { batchBody } from "../testing/batch-body.ts";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";

const SETTINGS = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_MEMORY_POOL_SIZE: "512 MiB",
  MILLRACE_SHARDING_CPU_ALLOCATION: "3",
};
const PARTITIONS = 6;
const TARGET = { stream: toIdentifier(0), topic: toIdentifier(0) };
const PAYLOAD = new Uint8Array(64).fill(5);

/** Ends as `end` says in the first shard's thread once the file is there; the product has no part in it. */
const preload = (file: string, end: string) => `
const { isMainThread, workerData } = require("node:worker_threads");
const { existsSync } = require("node:fs");
if (!isMainThread && workerData?.shard === 1) {
  setInterval(() => { if (existsSync(${JSON.stringify(file)})) { ${end} } }, 10);
}
`;

async function started(data: string, more: Record<string, string> = {}) {
  const args = ["--data", data, "--with-default-root-credentials"];
  const server = new ServerProcess(args, { ...SETTINGS, ...more });
  const client = new RawClient(await server.port());
  assert.equal((await client.login("iggy", "iggy")).code, 0);
  return { server, client };
}

/**
 * Sends to all partitions in turn until an answer fails to come. Answers how many batches each acknowledged.
 */
async function sendUntilLost(client: RawClient, acknowledged: number[]): Promise<void> {
  for (let sent = 0; ; sent += 1) {
    const partition = sent % PARTITIONS;
    const answer = await client
      .command("SendMessages", batchBody(partition, [PAYLOAD]))
      .catch(() => undefined);
    if (answer === undefined) return;
    assert.equal(answer.code, 0, "no partition is refused while others are served");
    acknowledged[partition] = (acknowledged[partition] ?? 0) + 1;
  }
}

for (const [what, end, reason] of [
  ["throws", "throw new Error('a mistake of its own');", /a mistake of its own/],
  ["ends", "process.exit(0);", /its thread ended/],
] as const) {
  test(`A server of three shards one of which ${what} stops with 1 and says so; what it acknowledged is there.`, {
    timeout: 120_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-crashed-shard-"));
    const servers: ServerProcess[] = [];
    try {
      const data = join(folder, "data");
      const flag = join(folder, "now");
      await writeFile(join(folder, "preload.cjs"), preload(flag, end));
      const first = await started(data, { NODE_OPTIONS: `--require ${join(folder, "preload.cjs")}` });
      servers.push(first.server);
      const stream = encodeCreateStream({ name: "s", options: NO_OPTIONS });
      assert.equal((await first.client.command("CreateStream", stream)).code, 0);
      const topic = { ...TARGET, name: "t", partitionsCount: PARTITIONS, options: NO_OPTIONS };
      assert.equal((await first.client.command("CreateTopic", encodeCreateTopic(topic))).code, 0);

      const acknowledged: number[] = new Array(PARTITIONS).fill(0);
      const sending = sendUntilLost(first.client, acknowledged);
      while (acknowledged.includes(0)) await new Promise((resolve) => setTimeout(resolve, 20));
      await writeFile(flag, "");
      assert.equal(await first.server.exit(), 1, first.server.stderr);
      await sending;
      assert.match(first.server.stderr, /A shard has ended\. The server stops/);
      assert.match(first.server.stderr, /"shard":1/);
      assert.match(first.server.stderr, reason);

      const again = await started(data);
      servers.push(again.server);
      const { payload } = await again.client.command("GetTopic", encodeGetTopic(TARGET));
      const counts = decodeGetTopicReply(payload)?.partitions.map(({ messagesCount }) => messagesCount) ?? [];
      assert.equal(counts.length, PARTITIONS);
      for (const [partition, count] of counts.entries()) {
        const least = acknowledged[partition] ?? 0;
        assert.ok(least > 0 && count >= least && count <= least + 1, `${partition}: ${count} of ${least}`);
      }
    } finally {
      for (const server of servers) server.signal("SIGKILL");
      await Promise.all(servers.map((server) => server.exit()));
      await rm(folder, { recursive: true, force: true });
    }
  });
}
