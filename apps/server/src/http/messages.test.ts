import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameCursor } from "@millrace/framing";
import {
  decodePollMessagesReply,
  encodePollMessages,
  encodeStoreConsumerOffset,
  toIdentifier,
} from "@millrace/protocol";
import { base64, HttpUnderTest, sendBody } from "../testing/http-under-test.ts";
import { RawClient } from "../testing/raw-client.ts";

const MESSAGES = "/streams/s/topics/t/messages";
const OFFSETS = "/streams/s/topics/t/consumer-offsets";
const U64_MAX = "18446744073709551615";

async function started(partitionsCount = 1, options: Record<string, string> = {}): Promise<HttpUnderTest> {
  const server = await HttpUnderTest.start();
  await server.login();
  await server.makeTopic(partitionsCount, options);
  return server;
}

const offsetsOf = (json: { messages: { header: { offset: number } }[] }) =>
  json.messages.map(({ header }) => header.offset);
const textsOf = (json: { messages: { payload: string }[] }) =>
  json.messages.map(({ payload }) => Buffer.from(payload, "base64").toString());

test("What is sent is confirmed, durable as the topic says, and polled back with all its parts.", async () => {
  const server = await started(2, { durability: "persisted" });
  const entry = {
    key: { kind: "string", value: base64("trace") },
    value: { kind: "uint32", value: "AwAAAA==" },
  };
  const body = {
    partitioning: { kind: "partition_id", value: "AQAAAA==" },
    messages: [
      { id: 42, payload: base64("hello"), user_headers: [entry] },
      { payload: base64("world"), user_headers: null },
    ],
    unknown: "ignored",
  };
  const sent = await server.call("POST", MESSAGES, { body });
  assert.equal(sent.status, 201, sent.text);
  assert.deepEqual(sent.json, {
    confirmations: [{ stream_id: 0, topic_id: 0, partition_id: 1, base_offset: 0 }],
  });
  assert.equal(sent.headers.get("iggy-durability"), "persisted");
  const { json } = await server.call("GET", `${MESSAGES}?partition_id=1`);
  assert.deepEqual([json.partition_id, json.current_offset, json.count], [1, 1, 2]);
  const [first, second] = json.messages;
  assert.deepEqual([first.payload, first.user_headers], [base64("hello"), [entry]]);
  assert.deepEqual(
    [first.header.id, first.header.payload_length, first.header.user_headers_length, first.header.reserved],
    [42, 5, 19, 0],
  );
  assert.ok(Math.abs(first.header.timestamp / 1000 - Date.now()) < 60_000);
  assert.deepEqual([second.user_headers, second.header.offset], [[], 1]);
  const block = {
    payload: base64("x"),
    user_headers: Buffer.from("0201000000610b0400000003000000", "hex").toString("base64"),
  };
  await server.call("POST", MESSAGES, { body: { ...body, messages: [block] } });
  const last = (await server.call("GET", `${MESSAGES}?partition_id=1&kind=last&count=1`)).json.messages[0];
  assert.deepEqual(last.user_headers[0].key, { kind: "string", value: base64("a") });
  await server.stop();
});

test("Ids of 128 bits and numbers of 64 go both ways with all their digits, as number or text.", async () => {
  const server = await started();
  const ids = [
    "170141183460469231731687303715884105728",
    "340282366920938463463374607431768211455",
    U64_MAX,
    "9007199254740993",
  ];
  const messages = ids.flatMap((id) => [`{"id":${id},"payload":"YQ=="}`, `{"id":"${id}","payload":"YQ=="}`]);
  const uuid = '{"id":"ffffffff-ffff-4fff-bfff-ffffffffffff","payload":"YQ=="}';
  const body = `{"partitioning":{"kind":"balanced","value":""},"messages":[${[...messages, uuid].join(",")}]}`;
  const sent = await server.call("POST", MESSAGES, { body });
  assert.equal(sent.status, 201, sent.text);
  const { text } = await server.call("GET", `${MESSAGES}?count=100`);
  const seen = [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id);
  assert.deepEqual(seen, [
    ...ids.flatMap((id) => [id, id]),
    String(BigInt("0xffffffffffff4fffbfffffffffffffff")),
  ]);
  const checksums = [...text.matchAll(/"checksum":(\d+)/g)].map(([, digits]) => BigInt(digits ?? ""));
  assert.ok(
    checksums.some((checksum) => checksum > 2n ** 53n),
    "checksums are not rounded",
  );

  const far = await server.call("GET", `${MESSAGES}?kind=offset&value=${U64_MAX}`);
  assert.deepEqual([far.status, far.json.count], [200, 0]);
  for (const offset of [U64_MAX, `"${U64_MAX}"`]) {
    const beyond = await server.call("PUT", OFFSETS, { body: `{"consumer_id":1,"offset":${offset}}` });
    assert.deepEqual([beyond.status, beyond.json.id, beyond.json.field], [400, 4100, "offset"]);
  }
  const expiry = `{"name":"t","message_expiry":18446744073709551614,"max_topic_size":"18446744073709551614"}`;
  assert.equal((await server.call("PUT", "/streams/s/topics/t", { body: expiry })).status, 204);
  const topic = (await server.call("GET", "/streams/s/topics/t")).text;
  assert.match(topic, /"message_expiry":18446744073709551614,/);
  assert.match(topic, /"max_topic_size":18446744073709551614,/);
  await server.stop();
});

test("Numbers that cannot be exact are refused by name, never rounded.", async () => {
  const server = await started();
  for (const id of [
    "1.5",
    "1e40",
    "-1",
    "9007199254740993.0",
    "340282366920938463463374607431768211456",
    '"x"',
    "true",
    "1e16",
  ]) {
    const body = `{"partitioning":{"kind":"balanced"},"messages":[{"id":${id},"payload":"YQ=="}]}`;
    const answer = await server.call("POST", MESSAGES, { body });
    assert.deepEqual([answer.status, answer.json.id, answer.json.field], [422, 3, "messages[0].id"], id);
  }
  for (const offset of ["18446744073709551616", "-1", "0.5", "1e300", '"one"', "9007199254740993.5"]) {
    const answer = await server.call("PUT", OFFSETS, { body: `{"consumer_id":1,"offset":${offset}}` });
    assert.deepEqual([answer.status, answer.json.field], [422, "offset"], offset);
  }
  for (const query of [
    "value=18446744073709551616",
    "value=1e3",
    "count=4294967296",
    "count=-1",
    "partition_id=x",
  ]) {
    const answer = await server.call("GET", `${MESSAGES}?${query}`);
    assert.deepEqual(
      [answer.status, answer.json.id, answer.json.field],
      [400, 3, query.split("=")[0]],
      query,
    );
  }
  assert.equal((await server.call("GET", MESSAGES)).json.count, 0, "nothing of it was written");
  await server.stop();
});

test("Messages that cannot be sent are refused with their code and place, and nothing is written.", async () => {
  const server = await started();
  const message = { payload: "YQ==" };
  const balanced = { kind: "balanced", value: "" };
  const header = (kind: string, value: string) => [
    { key: { kind: "string", value: "YQ==" }, value: { kind, value } },
  ];
  const cases: readonly (readonly [object, number, number, string | null])[] = [
    [{ partitioning: balanced, messages: [] }, 400, 4009, "messages"],
    [{ partitioning: balanced }, 422, 3, "messages"],
    [{ messages: [message] }, 422, 3, "partitioning"],
    [{ partitioning: { kind: "random" }, messages: [message] }, 422, 3, "partitioning.kind"],
    [
      { partitioning: { kind: "partition_id", value: "AQA=" }, messages: [message] },
      422,
      3,
      "partitioning.value",
    ],
    [{ partitioning: { kind: "partition_id", value: "CQAAAA==" }, messages: [message] }, 404, 20, null],
    [
      { partitioning: { kind: "messages_key", value: "" }, messages: [message] },
      400,
      4028,
      "partitioning.value",
    ],
    [
      { partitioning: { kind: "messages_key", value: base64("k".repeat(256)) }, messages: [message] },
      400,
      4028,
      "partitioning.value",
    ],
    [{ partitioning: balanced, messages: [message, {}] }, 422, 3, "messages[1].payload"],
    [{ partitioning: balanced, messages: [{ payload: "" }] }, 400, 4024, "messages[0].payload"],
    [{ partitioning: balanced, messages: [{ payload: "YQ" }] }, 422, 3, "messages[0].payload"],
    [{ partitioning: balanced, messages: [{ payload: "Y-_=" }] }, 422, 3, "messages[0].payload"],
    [{ partitioning: balanced, messages: [{ payload: 5 }] }, 422, 3, "messages[0].payload"],
    [{ partitioning: balanced, messages: ["text"] }, 422, 3, "messages[0]"],
    [
      { partitioning: balanced, messages: [{ ...message, user_headers: header("uint32", "AwAA") }] },
      400,
      4019,
      "messages[0].user_headers",
    ],
    [
      { partitioning: balanced, messages: [{ ...message, user_headers: header("colour", "AwAA") }] },
      422,
      3,
      "messages[0].user_headers[0].value.kind",
    ],
    [
      { partitioning: balanced, messages: [{ ...message, user_headers: "YWJj" }] },
      400,
      4019,
      "messages[0].user_headers",
    ],
    [
      { partitioning: balanced, messages: [{ ...message, user_headers: { a: 1 } }] },
      422,
      3,
      "messages[0].user_headers",
    ],
  ];
  for (const [body, status, id, field] of cases) {
    const { json, ...answer } = await server.call("POST", MESSAGES, { body });
    assert.deepEqual([answer.status, json.id, json.field], [status, id, field], JSON.stringify(body));
  }
  const missing = await server.call("POST", "/streams/none/topics/t/messages", { body: sendBody(["x"]) });
  assert.deepEqual([missing.status, missing.json.id], [404, 20]);
  const ack = await server.call("POST", `${MESSAGES}?ack=perhaps`, { body: sendBody(["x"]) });
  assert.deepEqual([ack.status, ack.json.field], [400, "ack"]);
  assert.equal((await server.call("GET", MESSAGES)).json.count, 0);
  await server.stop();
});

test("Each strategy starts where it says, auto-commit moves on, and consumers may have names.", async () => {
  const server = await started();
  for (const texts of [
    ["0", "1"],
    ["2", "3", "4"],
  ])
    await server.call("POST", MESSAGES, { body: sendBody(texts) });
  const poll = async (query: string) => (await server.call("GET", `${MESSAGES}?${query}`)).json;
  assert.deepEqual(offsetsOf(await poll("")), [0, 1, 2, 3, 4]);
  assert.deepEqual(offsetsOf(await poll("kind=offset&value=3")), [3, 4]);
  assert.deepEqual(offsetsOf(await poll("kind=first&count=2")), [0, 1]);
  assert.deepEqual(offsetsOf(await poll("kind=last&count=2")), [3, 4]);
  const { timestamp } = (await poll("kind=last&count=1")).messages[0].header;
  assert.deepEqual(offsetsOf(await poll(`kind=timestamp&value=${timestamp}`)), [2, 3, 4]);
  assert.deepEqual(offsetsOf(await poll("kind=next&count=2&auto_commit=true&consumer_id=me")), [0, 1]);
  assert.deepEqual(offsetsOf(await poll("kind=next&count=2&auto_commit=true&consumer_id=me")), [2, 3]);
  assert.deepEqual(offsetsOf(await poll("kind=next&count=1&consumer_id=7")), [0]);
  const stored = await server.call("GET", `${OFFSETS}?consumer_id=me`);
  assert.deepEqual(stored.json, { partition_id: 0, current_offset: 4, stored_offset: 3 });
  for (const [query, status, id, field] of [
    ["kind=sideways", 400, 3, "kind"],
    ["auto_commit=maybe", 400, 3, "auto_commit"],
    ["consistency=eventual", 400, 3, "consistency"],
    ["partition_id=9", 404, 3007, "partition_id"],
  ] as const) {
    const answer = await server.call("GET", `${MESSAGES}?${query}`);
    assert.deepEqual([answer.status, answer.json.id, answer.json.field], [status, id, field], query);
  }
  const stream = await server.call("GET", "/streams/none/topics/t/messages");
  assert.deepEqual([stream.status, stream.json.id, stream.json.field], [404, 1009, "stream_id"]);
  const topic = await server.call("GET", "/streams/s/topics/9/messages?consistency=linearizable");
  assert.deepEqual([topic.status, topic.json.id, topic.json.field], [404, 2010, "topic_id"]);
  await server.stop();
});

test("A send without acknowledgement is answered 202 at once and arrives.", async () => {
  const server = await started();
  const sent = await server.call("POST", `${MESSAGES}?ack=none`, { body: sendBody(["quiet"]) });
  assert.deepEqual([sent.status, sent.text, sent.headers.get("iggy-durability")], [202, "", "none"]);
  const acked = await server.call("POST", `${MESSAGES}?ack=replicated`, { body: sendBody(["loud"]) });
  assert.deepEqual([acked.status, acked.headers.get("iggy-durability")], [201, "replicated"]);
  const unknown = await server.call("POST", `${MESSAGES}?ack=quorum`, { body: sendBody(["lost"]) });
  assert.deepEqual([unknown.status, unknown.json.field], [400, "ack"]);
  assert.deepEqual(textsOf((await server.call("GET", MESSAGES)).json), ["quiet", "loud"]);
  await server.stop();
});

test("Offsets are stored, read and deleted; consumer ids come as number or text.", async () => {
  const server = await started();
  await server.call("POST", MESSAGES, { body: sendBody(["a", "b"]) });
  const read = () => server.call("GET", `${OFFSETS}?consumer_id=5&partition_id=0`);
  const nothing = await read();
  assert.deepEqual(
    [nothing.status, nothing.json.id, nothing.json.code, nothing.json.reason],
    [404, 404, "not_found", "Resource not found"],
  );
  for (const [id, offset] of [
    [5, 0],
    ["5", 1],
  ] as const) {
    const stored = await server.call("PUT", OFFSETS, { body: { consumer_id: id, partition_id: 0, offset } });
    assert.deepEqual([stored.status, stored.text], [204, ""]);
    assert.equal((await read()).json.stored_offset, offset);
  }
  const beyond = await server.call("PUT", OFFSETS, { body: { consumer_id: 5, offset: 2 } });
  assert.deepEqual([beyond.status, beyond.json.id, beyond.json.code], [400, 4100, "invalid_offset"]);
  const nameless = await server.call("PUT", OFFSETS, { body: { offset: 0 } });
  assert.deepEqual([nameless.status, nameless.json.field], [422, "consumer_id"]);
  assert.equal((await server.call("DELETE", `${OFFSETS}/5?partition_id=0`)).status, 204);
  const again = await server.call("DELETE", `${OFFSETS}/5`);
  assert.deepEqual([again.status, again.json.id], [404, 3021]);
  await server.stop();
});

test("What HTTP writes, TCP reads with checksums that hold, and the other way round.", async () => {
  const server = await started();
  const client = new RawClient(server.tcp.port);
  await client.login("iggy", "iggy");
  await server.call("POST", MESSAGES, { body: sendBody(["from http", "twice"]) });
  const target = {
    consumer: { kind: "consumer", id: toIdentifier(1) },
    stream: toIdentifier("s"),
    topic: toIdentifier(0),
    partitionId: 0,
  } as const;
  const poll = encodePollMessages({ ...target, strategy: { kind: "first" }, count: 10, autoCommit: false });
  const { batches } = decodePollMessagesReply((await client.command("PollMessages", poll)).payload);
  const cursor = new FrameCursor(batches);
  const ids: bigint[] = [];
  while (cursor.next()) ids.push(cursor.id);
  assert.equal(new Set(ids).size, 2);
  for (const id of ids)
    assert.deepEqual([(id >> 76n) & 15n, (id >> 62n) & 3n], [4n, 2n], "a random UUID of version 4");
  const { kernel, pool } = server.broker.shard;
  const lease = pool.allocate(batches.length);
  assert.ok(lease);
  lease.bytes.set(batches);
  assert.equal(kernel.verifyBatch(lease.position, batches.length), undefined);
  lease.release();
  const store = encodeStoreConsumerOffset({ ...target, offset: 1n, ack: "quorum" });
  assert.equal((await client.command("StoreConsumerOffset", store)).code, 0);
  assert.equal((await server.call("GET", OFFSETS)).json.stored_offset, 1);
  client.close();
  await server.stop();
});

test("Many sends at once, by several sessions, each get offsets of their own, and every message is there.", async () => {
  const server = await started();
  const tokens = [await server.login(), await server.login(), await server.login()];
  const texts = Array.from({ length: 90 }, (_, index) => `m${index}`);
  const sends = texts.map((text, index) =>
    server.call("POST", MESSAGES, { token: tokens[index % 3] ?? "", body: sendBody([text]) }),
  );
  const answers = await Promise.all(sends);
  const offsets = answers.map(({ status, json, text }) => {
    assert.equal(status, 201, text);
    return json.confirmations[0].base_offset as number;
  });
  assert.deepEqual(
    [...offsets].sort((one, other) => one - other),
    texts.map((_, index) => index),
  );
  const stored = textsOf((await server.call("GET", `${MESSAGES}?count=1000`)).json);
  offsets.forEach((offset, index) => {
    assert.equal(stored[offset], texts[index]);
  });
  await server.stop();
});

test("A session may wait for 32 writes; the next is 429 and asks to come back, and none is lost or doubled.", async () => {
  const server = await started(1, { durability: "persisted" });
  const sends = Array.from({ length: 120 }, (_, index) =>
    server.call("POST", MESSAGES, { body: sendBody([`m${index}`]) }),
  );
  const answers = await Promise.all(sends);
  const refused = answers.filter(({ status }) => status === 429);
  for (const { json, headers } of refused) {
    assert.deepEqual(
      [json.id, json.code, headers.get("retry-after")],
      [429, "too_many_in_flight_writes", "1"],
    );
  }
  const confirmed = answers.filter(({ status }) => status === 201).length;
  assert.equal(confirmed + refused.length, 120);
  assert.equal((await server.call("GET", `${MESSAGES}?count=1000`)).json.count, confirmed);
  await server.stop();
});
