import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MillraceClient } from "../index.ts";
import { RealServer } from "../testing/real-server.test.ts";

const server = new RealServer({
  MILLRACE_HTTP_ENABLED: "true",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_GRPC_ENABLED: "true",
  MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
});
const WHO = { username: "iggy", password: "iggy" };
const clients: MillraceClient[] = [];
let token = "";

before(async () => {
  await server.start();
  for (const [transport, address] of [
    ["tcp", server.address],
    ["ws", server.webSocketAddress],
    ["grpc", server.grpcAddress],
  ] as const) {
    clients.push(await MillraceClient.connect({ ...WHO, transport, address }));
  }
  token = (await overHttp("POST", "/users/login", WHO)).access_token.token;
});

after(async () => {
  for (const client of clients) await client.close();
  await server.remove();
});

// biome-ignore lint/suspicious/noExplicitAny: the test looks into bodies of several shapes.
async function overHttp(method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(`http://${server.httpAddress}${path}`, {
    method,
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: body === undefined ? null : JSON.stringify(body),
  });
  assert.equal(answer.status, 200);
  return answer.json();
}

test("Every connection shows in the list, over every transport, with its own transport, user and groups.", async () => {
  const [tcp, ws, grpc] = clients as [MillraceClient, MillraceClient, MillraceClient];
  await tcp.createStream("s");
  await tcp.createTopic("s", { name: "t", partitionsCount: 2 });
  const group = await tcp.createConsumerGroup("s", "t", "g");
  await ws.joinConsumerGroup({ stream: "s", topic: "t", group: "g" });
  const mine = await Promise.all(clients.map((client) => client.getMe()));
  assert.deepEqual(
    mine.map(({ transport, userId, groupsCount }) => [transport, userId, groupsCount]),
    [
      ["tcp", 0, 0],
      ["websocket", 0, 1],
      ["http", 0, 0],
    ],
  );
  assert.deepEqual(mine[1]?.groups, [{ streamId: 0, topicId: 0, groupId: group.id }]);
  for (const me of mine) assert.match(me.address, /^127\.0\.0\.1:\d+$/);
  for (const client of [tcp, ws, grpc]) {
    const all = await client.getClients();
    assert.deepEqual(all.map(({ transport }) => transport).sort(), ["http", "http", "tcp", "websocket"]);
    for (const me of mine) {
      const { groups: _, ...record } = me;
      assert.deepEqual(
        all.find(({ clientId }) => clientId === me.clientId),
        record,
      );
      assert.deepEqual(await client.getClient(me.clientId), me);
    }
  }
  const listed: { client_id: number; transport: string; consumer_groups_count: number }[] = await overHttp(
    "GET",
    "/clients",
  );
  const shown = listed.find(({ client_id }) => client_id === mine[1]?.clientId);
  assert.deepEqual([shown?.transport, shown?.consumer_groups_count], ["WebSocket", 1]);
  assert.equal(listed.length, 4);
});

test("Every figure of the statistics is the same over every transport and over HTTP, but for what moves.", async () => {
  const [tcp, ws, grpc] = clients as [MillraceClient, MillraceClient, MillraceClient];
  await ws.createStream("figures");
  await ws.createTopic("figures", { name: "t", partitionsCount: 3 });
  await ws.sendMessages({
    stream: "figures",
    topic: "t",
    messages: [{ payload: "one" }, { payload: "two" }],
  });
  const stats = await tcp.getStats();
  const same = (figures: typeof stats) => {
    const { cpuUsage, totalCpuUsage, memoryUsage, availableMemory, runTime, freeDiskSpace, ...rest } =
      figures;
    assert.ok(cpuUsage >= 0 && totalCpuUsage >= 0 && totalCpuUsage <= 100);
    assert.ok(
      memoryUsage > 10_000_000n && memoryUsage < rest.totalMemory && availableMemory < rest.totalMemory,
    );
    assert.ok(runTime > 0n && runTime < 600_000_000n && freeDiskSpace < rest.totalDiskSpace);
    return rest;
  };
  assert.deepEqual(same(await ws.getStats()), same(stats));
  assert.deepEqual(same(await grpc.getStats()), same(stats));
  const { streamsCount, topicsCount, partitionsCount, segmentsCount, messagesCount, clientsCount } = stats;
  const counts = [streamsCount, topicsCount, partitionsCount, segmentsCount, messagesCount, clientsCount];
  assert.deepEqual(counts, [2, 2, 5, 5, 2n, 4]);
  assert.ok(stats.messagesSize > 0n && stats.writtenBytes >= stats.messagesSize && stats.readBytes === 0n);
  assert.ok(Math.abs(Number(stats.startTime) / 1000 + Number(stats.runTime) / 1000 - Date.now()) < 60_000);
  const http = await overHttp("GET", "/stats");
  const shown = [
    ...["process_id", "start_time", "streams_count", "topics_count", "partitions_count", "segments_count"],
    ...["messages_count", "clients_count", "consumer_groups_count", "threads_count", "hostname", "os_name"],
    ...["os_version", "kernel_version", "iggy_server_version", "iggy_server_semver"],
  ].map((name) => String(http[name]));
  const own = [
    ...[stats.processId, stats.startTime, streamsCount, topicsCount, partitionsCount, segmentsCount],
    ...[
      messagesCount,
      clientsCount,
      stats.consumerGroupsCount,
      stats.threadsCount,
      stats.hostname,
      stats.osName,
    ],
    ...[stats.osVersion, stats.kernelVersion, stats.serverVersion, stats.serverVersionNumber],
  ].map(String);
  assert.deepEqual(shown, own);
  for (const [name, value] of [
    ["messages_size_bytes", stats.messagesSize],
    ["read_bytes", stats.readBytes],
    ["written_bytes", stats.writtenBytes],
    ["total_memory", stats.totalMemory],
    ["total_disk_space", stats.totalDiskSpace],
  ] as const) {
    assert.equal(http[name], `${value} B`, name);
  }
});
