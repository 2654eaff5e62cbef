import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HttpUnderTest } from "../testing/http-under-test.ts";
import { ServerProcess } from "../testing/server-process.ts";

const PAGE = new URL("../../../../docs/metrics.md", import.meta.url);
/** Metrics that are there only when something is switched on. */
const WHEN_ON = /^(telemetry_troubles_total$|replica_)/;

const ENVIRONMENT = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_ROOT_USERNAME: "admin",
  MILLRACE_ROOT_PASSWORD: "a-long-secret",
};

async function metricsOf(base: string): Promise<string> {
  const login = await fetch(`${base}/users/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: "a-long-secret" }),
  });
  const { access_token: access } = (await login.json()) as { access_token: { token: string } };
  const answer = await fetch(`${base}/metrics`, { headers: { authorization: `Bearer ${access.token}` } });
  return answer.text();
}

test("The metrics of a server are those of docs/metrics.md, with their kinds.", async () => {
  const data = await mkdtemp(join(tmpdir(), "millrace-metrics-"));
  const server = new ServerProcess(["--data", data], ENVIRONMENT);
  try {
    await server.port();
    const text = await metricsOf(server.http());
    const served = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, kind]) => `${name} ${kind}`);
    const page = await readFile(PAGE, "utf8");
    const told = [...page.matchAll(/^\| `(\w+)` \| (counter|gauge) \|/gm)]
      .filter(([, name = ""]) => !WHEN_ON.test(name))
      .map(([, name, kind]) => `${name} ${kind}`);
    assert.deepEqual(served.sort(), told.sort());
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0);
  } finally {
    server.signal("SIGKILL");
    await rm(data, { recursive: true, force: true });
  }
});

test("Partitions that come and go are counted under the reference's names.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic(3);
  assert.equal(
    (await server.call("DELETE", "/streams/s/topics/t/partitions?partitions_count=2")).status,
    204,
  );
  const { text } = await server.call("GET", "/metrics");
  for (const line of [
    'partitions_materialised_total{shard="0"} 3',
    'partitions_removed_total{shard="0"} 2',
    'partition_requests_denied_transient_total{shard="0"} 0',
    "partitions 1",
  ]) {
    assert.ok(text.includes(`\n${line}\n`), `${line} in ${text}`);
  }
  await server.stop();
});
