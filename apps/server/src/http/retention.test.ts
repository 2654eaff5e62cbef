import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUnderTest, sendBody } from "../testing/http-under-test.ts";

const URL = "/streams/s/topics/t/retention";

test("What retention does to a topic is told: budget, first offset, and who keeps which segments.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic(2, { segment_size: "1 MiB" });
  for (let index = 0; index < 5; index++) {
    const body = sendBody(["x".repeat(600_000)], { kind: "partition_id", value: "AAAAAA==" });
    assert.equal((await server.call("POST", "/streams/s/topics/t/messages", { body })).status, 201);
  }
  const offset = { consumer_id: 7, partition_id: 0, offset: 1 };
  assert.equal(
    (await server.call("PUT", "/streams/s/topics/t/consumer-offsets", { body: offset })).status,
    204,
  );
  const { partitions, ...topic } = (await server.call("GET", URL)).json;
  assert.deepEqual(topic, {
    cleaner_enabled: true,
    cleaner_interval: 60_000_000,
    partition_budget: null,
    budget_raised: false,
  });
  assert.equal(partitions.length, 2);
  const none = { segments_count: 0, messages_count: 0, size: "0 B" };
  const { sealed, holders, ...first } = partitions[0];
  assert.deepEqual(first, {
    id: 0,
    fault: null,
    first_offset: 0,
    expired: none,
    over_size: none,
    removable: none,
    held_back: none,
    holders_count: 1,
  });
  assert.deepEqual([sealed.segments_count, sealed.messages_count], [2, 4]);
  assert.match(sealed.size, /^2[45]\d{5} B$/);
  const holder = { kind: "consumer", id: 7, name: null, owned: false, stored_offset: 1 };
  assert.deepEqual(holders, [{ ...holder, segments_count: 1, due_segments_count: 0 }]);
  const page = (await server.call("GET", `${URL}?first_partition_id=1&partitions_count=1`)).json;
  assert.deepEqual(
    page.partitions.map(({ id }: { id: number }) => id),
    [1],
  );
  await server.stop();
});

test("A topic that does not exist has no retention: 404 and the level that misses; bad numbers are 400.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic(1);
  const cases = [
    ["/streams/none/topics/t/retention", 404, 1009],
    ["/streams/s/topics/none/retention", 404, 2010],
    [`${URL}?partitions_count=-1`, 400, 3],
    [`${URL}?first_partition_id=x`, 400, 3],
  ] as const;
  for (const [url, status, id] of cases) {
    const answer = await server.call("GET", url);
    assert.deepEqual([answer.status, answer.json.id], [status, id], url);
  }
  await server.stop();
});
