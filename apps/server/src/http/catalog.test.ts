import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUnderTest, sendBody, TOPIC } from "../testing/http-under-test.ts";

async function started(): Promise<HttpUnderTest> {
  const server = await HttpUnderTest.start();
  await server.login();
  return server;
}

test("Streams are created, listed, read by id and name, renamed, purged and deleted.", async () => {
  const server = await started();
  const made = await server.call("POST", "/streams", { body: { name: "orders" } });
  const { created_at: createdAt, ...rest } = made.json;
  assert.deepEqual(rest, {
    id: 0,
    name: "orders",
    size: "0 B",
    messages_count: 0,
    topics_count: 0,
    options: {},
    topics: [],
  });
  assert.ok(Math.abs(createdAt / 1000 - Date.now()) < 60_000);
  await server.call("POST", "/streams/orders/topics", { body: TOPIC });
  await server.call("POST", "/streams/orders/topics/t/messages", { body: sendBody(["x"]) });
  const list = (await server.call("GET", "/streams")).json;
  assert.deepEqual(
    [list.length, list[0].messages_count, list[0].topics_count, "topics" in list[0]],
    [1, 1, 1, false],
  );
  assert.match(list[0].size, /^[1-9]\d* B$/);
  const byId = await server.call("GET", "/streams/0");
  assert.deepEqual((await server.call("GET", "/streams/orders")).json, byId.json);
  assert.equal(byId.json.topics[0].name, "t");
  assert.equal((await server.call("PUT", "/streams/0", { body: { name: "größe 1/2" } })).status, 204);
  assert.equal((await server.call("GET", `/streams/${encodeURIComponent("größe 1/2")}`)).json.id, 0);
  assert.equal((await server.call("DELETE", "/streams/0/purge")).status, 204);
  assert.equal((await server.call("GET", "/streams/0")).json.messages_count, 0);
  assert.equal((await server.call("DELETE", "/streams/0")).status, 204);
  const gone = await server.call("GET", "/streams/0");
  assert.deepEqual(
    [gone.status, gone.json],
    [404, { id: 404, code: "not_found", reason: "Resource not found", field: null }],
  );
  await server.stop();
});

test("Topics carry their settings and options; an update leaves out what stays.", async () => {
  const server = await started();
  await server.call("POST", "/streams", { body: { name: "s" } });
  const body = {
    name: "t",
    partitions_count: 2,
    compression_algorithm: "gzip",
    message_expiry: 60_000_000,
    max_topic_size: 1073741824,
    options: { segment_size: "512 MiB", durability: "persisted", message_expiry: "7 days" },
  };
  const made = await server.call("POST", "/streams/s/topics", { body });
  assert.equal(made.status, 200, made.text);
  const { options, partitions, ...topic } = made.json;
  assert.deepEqual(
    [topic.id, topic.compression_algorithm, topic.message_expiry, topic.max_topic_size],
    [0, "gzip", 60_000_000, 1073741824],
  );
  assert.deepEqual(options.segment_size, { value: "536870912", explicit: true });
  assert.deepEqual(options.durability, { value: "persisted", explicit: true });
  assert.deepEqual(options.message_expiry, { value: "60000000", explicit: true }, "the field wins");
  assert.deepEqual(options.preallocate_segments, { value: "false", explicit: false });
  assert.deepEqual(
    partitions.map((one: { id: number; size: string; segments_count: number }) => [
      one.id,
      one.size,
      one.segments_count,
    ]),
    [
      [0, "0 B", 1],
      [1, "0 B", 1],
    ],
  );
  assert.equal((await server.call("PUT", "/streams/s/topics/0", { body: { name: "renamed" } })).status, 204);
  const renamed = (await server.call("GET", "/streams/s/topics/renamed")).json;
  assert.deepEqual(
    [renamed.message_expiry, renamed.compression_algorithm, renamed.partitions.length],
    [60_000_000, "gzip", 2],
  );
  await server.call("PUT", "/streams/s/topics/0", {
    body: { name: "renamed", compression_algorithm: "none" },
  });
  const list = (await server.call("GET", "/streams/s/topics")).json;
  assert.deepEqual([list.length, list[0].compression_algorithm, "partitions" in list[0]], [1, "none", false]);
  assert.equal((await server.call("DELETE", "/streams/s/topics/0/purge")).status, 204);
  assert.equal((await server.call("DELETE", "/streams/s/topics/renamed")).status, 204);
  assert.equal((await server.call("GET", "/streams/s/topics/renamed")).status, 404);
  assert.deepEqual((await server.call("GET", "/streams/none/topics")).json, []);
  await server.stop();
});

test("Partitions come and go at the end; segments of one are deleted without it.", async () => {
  const server = await started();
  await server.makeTopic(1);
  const url = "/streams/s/topics/t/partitions";
  const added = await server.call("POST", url, { body: { partitions_count: 3 } });
  assert.deepEqual([added.status, added.text], [200, ""]);
  const count = async () => (await server.call("GET", "/streams/s/topics/t")).json.partitions.length;
  assert.equal(await count(), 4);
  assert.equal((await server.call("DELETE", `${url}?partitions_count=2`)).status, 204);
  assert.equal(await count(), 2);
  assert.equal((await server.call("DELETE", `${url}/1?segments_count=3`)).status, 204);
  assert.equal(await count(), 2);
  const cases = [
    ["POST", url, { partitions_count: 0 }, 400, 2015, "partitions_count"],
    ["POST", url, { partitions_count: 1001 }, 400, 2015, "partitions_count"],
    ["POST", url, {}, 422, 3, "partitions_count"],
    ["DELETE", url, undefined, 400, 3, "partitions_count"],
    ["DELETE", `${url}?partitions_count=9`, undefined, 400, 2019, "partitions_count"],
    ["DELETE", `${url}/7?segments_count=1`, undefined, 404, 3007, "partition_id"],
    ["DELETE", `${url}/x?segments_count=1`, undefined, 400, 3, "partition_id"],
  ] as const;
  for (const [method, path, body, status, id, field] of cases) {
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    assert.deepEqual(
      [answer.status, answer.json.id, answer.json.field],
      [status, id, field],
      `${method} ${path}`,
    );
  }
  await server.stop();
});

test("What the catalog refuses has the code of the binary protocol and the field it speaks about.", async () => {
  const server = await started();
  await server.makeTopic(1);
  const topics = "/streams/s/topics";
  const cases = [
    ["POST", "/streams", { name: "s" }, 400, 1012, "name"],
    ["POST", "/streams", { name: "" }, 400, 1013, "name"],
    ["POST", "/streams", { name: "n".repeat(256) }, 400, 1013, "name"],
    ["POST", "/streams", { name: 5 }, 422, 3, "name"],
    ["POST", "/streams", {}, 422, 3, "name"],
    ["POST", "/streams", [], 422, 3, "body"],
    ["POST", "/streams", { name: "o", options: { colour: "red" } }, 400, 4041, "options.colour"],
    ["POST", "/streams", { name: "o", options: { colour: 5 } }, 422, 3, "options.colour"],
    ["PUT", "/streams/9", { name: "o" }, 404, 1009, "stream_id"],
    ["DELETE", "/streams/9", undefined, 404, 1009, "stream_id"],
    ["DELETE", "/streams/none/purge", undefined, 404, 1009, "stream_id"],
    ["GET", "/streams/4294967296", undefined, 400, 3, "stream_id"],
    ["GET", `/streams/${"n".repeat(256)}`, undefined, 400, 6, "stream_id"],
    ["POST", topics, TOPIC, 400, 2013, "name"],
    ["POST", topics, { ...TOPIC, name: "n".repeat(256) }, 400, 2014, "name"],
    ["POST", topics, { ...TOPIC, name: "o", partitions_count: 1001 }, 400, 2015, "partitions_count"],
    ["POST", topics, { ...TOPIC, name: "o", compression_algorithm: "zip" }, 422, 3, "compression_algorithm"],
    ["POST", topics, { ...TOPIC, name: "o", message_expiry: "soon" }, 422, 3, "message_expiry"],
    ["POST", topics, { ...TOPIC, name: "o", max_topic_size: 1 }, 400, 1019, "max_topic_size"],
    ["POST", topics, { name: "o", partitions_count: 1 }, 422, 3, "compression_algorithm"],
    [
      "POST",
      topics,
      { ...TOPIC, name: "o", options: { segment_size: "1 B" } },
      400,
      4042,
      "options.segment_size",
    ],
    [
      "POST",
      topics,
      { ...TOPIC, name: "o", options: { enforce_fsync: "true" } },
      400,
      4041,
      "options.enforce_fsync",
    ],
    ["POST", "/streams/none/topics", TOPIC, 404, 1009, "stream_id"],
    [
      "PUT",
      `${topics}/t`,
      { name: "t", options: { segment_size: "512 MiB" } },
      400,
      4041,
      "options.segment_size",
    ],
    ["DELETE", `${topics}/none`, undefined, 404, 2010, "topic_id"],
    ["GET", "/options/planet", undefined, 400, 3, "scope"],
    ["GET", "/clients/x", undefined, 400, 3, "client_id"],
    ["GET", "/clients/4000000000", undefined, 404, 404, null],
    ["GET", "/nowhere", undefined, 404, 404, null],
  ] as const;
  for (const [method, path, body, status, id, field] of cases) {
    const answer = await server.call(method, path, body === undefined ? {} : { body });
    assert.deepEqual(
      [answer.status, answer.json.id, answer.json.field],
      [status, id, field],
      `${method} ${path} ${answer.text}`,
    );
    assert.ok(answer.json.reason.length > 0 && answer.json.code.length > 0);
  }
  await server.stop();
});

test("Stats, clients, cluster and options are those of the binary protocol.", async () => {
  const server = await started();
  await server.makeTopic(2);
  const stats = (await server.call("GET", "/stats")).json;
  assert.deepEqual(
    [stats.streams_count, stats.topics_count, stats.partitions_count, stats.clients_count],
    [1, 1, 2, 1],
  );
  assert.deepEqual(
    [stats.process_id, stats.iggy_server_version, stats.iggy_server_semver],
    [process.pid, "0.9.0", 9000],
  );
  for (const name of [
    "memory_usage",
    "total_memory",
    "available_memory",
    "read_bytes",
    "written_bytes",
    "messages_size_bytes",
    "free_disk_space",
    "total_disk_space",
  ]) {
    assert.match(stats[name], /^\d+ B$/, name);
  }
  const [client] = (await server.call("GET", "/clients")).json;
  assert.match(client.address, /^127\.0\.0\.1:\d+$/);
  const details = (await server.call("GET", `/clients/${client.client_id}`)).json;
  assert.deepEqual(details, { ...client, consumer_groups: [] });
  const cluster = (await server.call("GET", "/cluster/metadata")).json;
  assert.deepEqual(cluster.nodes[0].endpoints, {
    tcp: server.tcp.port,
    quic: 0,
    http: server.http.port,
    websocket: 0,
  });
  assert.deepEqual(
    [cluster.name, cluster.nodes[0].role, cluster.nodes[0].status],
    ["single-node", "leader", "healthy"],
  );
  const options = (await server.call("GET", "/options/topic")).json;
  const size = options.find(({ key }: { key: string }) => key === "segment_size");
  assert.deepEqual([size.kind, size.default_value], ["uint64", [0, 0, 0, 64, 0, 0, 0, 0]]);
  assert.deepEqual((await server.call("GET", "/options/stream")).json, []);
  await server.stop();
});
