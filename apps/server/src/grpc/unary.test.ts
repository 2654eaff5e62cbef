import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { credentials, Metadata, status } from "@grpc/grpc-js";
import { ErrorCode } from "@millrace/errors";
import { decodeCreatePersonalAccessTokenReply, encodeCreatePersonalAccessToken } from "@millrace/protocol";
import { makeTestAuthority } from "@millrace/testkit";
import { GrpcUnderTest } from "../testing/grpc-under-test.ts";
import { RawClient } from "../testing/raw-client.ts";

const TOPIC = { stream: { name: "s" }, topic: { name: "t" } };
const U64_MAX = "18446744073709551615";

async function withServer(body: (server: GrpcUnderTest) => Promise<void>): Promise<void> {
  const server = await GrpcUnderTest.start();
  try {
    await server.login();
    await body(server);
  } finally {
    await server.stop();
  }
}

const textsOf = ({ messages }: { messages: { payload: Buffer }[] }) =>
  messages.map(({ payload }) => payload.toString());

test("what a stock client sends by unary calls is confirmed and polled back with all its parts", async () => {
  await withServer(async (server) => {
    await server.makeTopic(2);
    const id = Buffer.from("00112233445566778899aabbccddeeff", "hex");
    const header = {
      key: { kind: "VALUE_KIND_STRING", value: Buffer.from("trace") },
      value: { kind: "VALUE_KIND_UINT32", value: Buffer.from([3, 0, 0, 0]) },
    };
    const messages = [{ id, payload: Buffer.from("hello"), user_headers: [header] }, { payload: "d29ybGQ=" }];
    const sent = await server.call("SendMessages", { ...TOPIC, partition_id: 1, messages });
    assert.deepEqual(sent, { stream_id: 0, topic_id: 0, partition_id: 1, base_offset: "0" });

    const polled = await server.call("PollMessages", { ...TOPIC, partition_id: 1, count: 10 });
    assert.deepEqual([polled.partition_id, polled.current_offset], [1, "1"]);
    const [first, second] = polled.messages;
    assert.deepEqual([first.offset, second.offset], ["0", "1"]);
    assert.deepEqual(first.id, id);
    assert.equal(second.id.length, 16);
    assert.notDeepEqual(second.id, Buffer.alloc(16), "the server makes an id");
    assert.deepEqual(first.user_headers, [header]);
    assert.equal(first.payload.toString(), "hello");
    assert.equal(second.payload.toString(), "world");
    assert.ok(BigInt(first.timestamp) > 0n && BigInt(first.origin_timestamp) > 0n);
    assert.ok(BigInt(first.checksum) > 0n);
  });
});

test("each strategy polls what it says, and stored offsets are got, moved and forgotten", async () => {
  await withServer(async (server) => {
    await server.makeTopic();
    const messages = ["a", "b", "c"].map((text) => ({ payload: Buffer.from(text) }));
    await server.call("SendMessages", { ...TOPIC, messages });
    const poll = async (strategy: object) =>
      textsOf(await server.call("PollMessages", { ...TOPIC, consumer: { name: "me" }, ...strategy }));
    assert.deepEqual(await poll({}), ["a", "b", "c"]);
    assert.deepEqual(await poll({ first: {}, count: 1 }), ["a"]);
    assert.deepEqual(await poll({ last: {}, count: 1 }), ["c"]);
    assert.deepEqual(await poll({ offset: 1 }), ["b", "c"]);
    assert.deepEqual(await poll({ timestamp: 1 }), ["a", "b", "c"]);
    assert.deepEqual(await poll({ next: {}, count: 2, auto_commit: true }), ["a", "b"]);
    assert.deepEqual(await poll({ next: {} }), ["c"]);

    const target = { ...TOPIC, consumer: { name: "me" } };
    const stored = await server.call("GetConsumerOffset", target);
    assert.deepEqual(stored, { partition_id: 0, current_offset: "2", stored_offset: "1" });
    await server.call("StoreConsumerOffset", { ...target, offset: 2 });
    assert.equal((await server.call("GetConsumerOffset", target)).stored_offset, "2");
    await server.call("DeleteConsumerOffset", target);
    const { status: gone, code } = await server.refusal("GetConsumerOffset", target);
    assert.deepEqual([gone, code], [status.NOT_FOUND, ErrorCode.ConsumerOffsetNotFound]);
  });
});

test("keys keep to one partition, and balanced batches go on to the next", async () => {
  await withServer(async (server) => {
    await server.makeTopic(3);
    const partitionOf = async (partitioning: object) => {
      const request = { ...TOPIC, ...partitioning, messages: [{ payload: Buffer.from("x") }] };
      return (await server.call("SendMessages", request)).partition_id;
    };
    const keyed = await partitionOf({ key: Buffer.from("k") });
    for (let again = 0; again < 3; again++) assert.equal(await partitionOf({ key: Buffer.from("k") }), keyed);
    const balanced = new Set([await partitionOf({}), await partitionOf({}), await partitionOf({})]);
    assert.equal(balanced.size, 3);
  });
});

test("streams, topics, partitions and groups are made, listed, changed and deleted", async () => {
  await withServer(async (server) => {
    const { stream } = await server.call("CreateStream", { name: "s" });
    assert.deepEqual([stream.id, stream.name, stream.topics_count], [0, "s", 0]);
    const made = await server.call("CreateTopic", {
      stream: { id: stream.id },
      name: "t",
      partitions_count: 2,
      message_expiry: 60_000_000,
      max_topic_size: U64_MAX,
    });
    assert.deepEqual([made.topic.message_expiry, made.topic.max_topic_size], ["60000000", U64_MAX]);
    assert.equal(made.partitions.length, 2);
    await server.call("CreatePartitions", { ...TOPIC, partitions_count: 3 });
    assert.equal((await server.call("GetTopic", TOPIC)).partitions.length, 5);
    await server.call("DeletePartitions", { ...TOPIC, partitions_count: 1 });
    assert.equal((await server.call("GetTopic", TOPIC)).topic.partitions_count, 4);
    await server.call("UpdateTopic", { ...TOPIC, name: "t2" });
    const topics = await server.call("ListTopics", { stream: { name: "s" } });
    assert.deepEqual(
      topics.topics.map(({ name }: { name: string }) => name),
      ["t2"],
    );

    const renamed = { stream: { name: "s" }, topic: { name: "t2" } };
    const { group } = await server.call("CreateConsumerGroup", { ...renamed, name: "g" });
    assert.deepEqual([group.name, group.partitions_count, group.members_count], ["g", 4, 0]);
    assert.equal((await server.call("ListConsumerGroups", renamed)).groups.length, 1);
    const found = await server.call("GetConsumerGroup", { ...renamed, group: { name: "g" } });
    assert.deepEqual(found, { group, members: [] });
    await server.call("DeleteConsumerGroup", { ...renamed, group: { name: "g" } });

    await server.call("PurgeTopic", renamed);
    await server.call("UpdateStream", { stream: { name: "s" }, name: "s2" });
    await server.call("PurgeStream", { stream: { name: "s2" } });
    const whole = await server.call("GetStream", { stream: { name: "s2" } });
    assert.deepEqual([whole.stream.name, whole.topics.length], ["s2", 1]);
    assert.equal((await server.call("GetStats")).topics_count, 1);
    await server.call("DeleteTopic", { stream: { name: "s2" }, topic: { name: "t2" } });
    await server.call("DeleteStream", { stream: { name: "s2" } });
    assert.deepEqual((await server.call("ListStreams")).streams, []);
  });
});

describe("a unary call", () => {
  let server: GrpcUnderTest;
  before(async () => {
    server = await GrpcUnderTest.start();
    await server.login();
    await server.makeTopic();
  });
  after(() => server.stop());

  test("has the status, number and name of what the broker refuses", async () => {
    const refusals = [
      ["CreateStream", { name: "s" }, status.ALREADY_EXISTS, ErrorCode.StreamNameAlreadyExists],
      ["CreateStream", { name: "" }, status.INVALID_ARGUMENT, ErrorCode.InvalidStreamName],
      ["GetStream", { stream: { name: "none" } }, status.NOT_FOUND, ErrorCode.StreamIdNotFound],
      ["GetTopic", { ...TOPIC, topic: { id: 9 } }, status.NOT_FOUND, ErrorCode.TopicIdNotFound],
      ["DeleteStream", { stream: { id: 99 } }, status.NOT_FOUND, ErrorCode.StreamIdNotFound],
      ["DeleteStream", {}, status.INVALID_ARGUMENT, ErrorCode.InvalidIdentifier],
      ["SendMessages", TOPIC, status.INVALID_ARGUMENT, ErrorCode.InvalidMessagesCount],
    ] as const;
    for (const [name, request, expected, code] of refusals) {
      const refused = await server.refusal(name, request);
      assert.deepEqual([refused.status, refused.code], [expected, code], `${name}: ${refused.text}`);
    }
  });

  test("refuses messages that cannot be: no payload, an id of another length, headers of no kind", async () => {
    const payload = Buffer.from("x");
    for (const [message, code] of [
      [{}, ErrorCode.EmptyMessagePayload],
      [{ payload, id: Buffer.from([1]) }, ErrorCode.InvalidCommand],
      [{ payload, user_headers: [{}] }, ErrorCode.InvalidHeaderValue],
      [
        { payload, user_headers: [{ key: { kind: 2, value: payload }, value: { kind: 3, value: "AAA=" } }] },
        4019,
      ],
    ] as const) {
      const refused = await server.refusal("SendMessages", { ...TOPIC, messages: [message] });
      assert.deepEqual([refused.status, refused.code], [status.INVALID_ARGUMENT, code], refused.text);
    }
  });

  test("is bounded: a request above 4 MiB is refused with the limit, and so is a batch that grows too long", async () => {
    const long = [{ payload: Buffer.alloc(4_194_304) }];
    const refused = await server.refusal("SendMessages", { ...TOPIC, messages: long });
    assert.deepEqual([refused.status, refused.code], [status.INVALID_ARGUMENT, ErrorCode.FrameTooLarge]);
    assert.match(refused.text, /4194304/);
    const many = Array.from({ length: 200_000 }, () => ({ payload: "eA==" }));
    const grown = await server.refusal("SendMessages", { ...TOPIC, messages: many });
    assert.equal(grown.code, ErrorCode.FrameTooLarge);
    assert.match(grown.text, /fewer at once/);
  });

  test("needs a token, but for Ping and Login; what was logged out is one no more", async () => {
    assert.deepEqual(await server.call("Ping", {}, { token: "" }), {});
    const none = await server.refusal("ListStreams", {}, { token: "" });
    assert.deepEqual([none.status, none.code], [status.UNAUTHENTICATED, ErrorCode.Unauthenticated]);
    const wrong = await server.refusal("ListStreams", {}, { token: "wrong" });
    assert.deepEqual(
      [wrong.status, wrong.code],
      [status.UNAUTHENTICATED, ErrorCode.InvalidPersonalAccessToken],
    );
    const refused = await server.refusal("Login", { username: "iggy", password: "no" }, { token: "" });
    assert.deepEqual([refused.status, refused.code], [status.UNAUTHENTICATED, ErrorCode.InvalidCredentials]);
    const { token, user_id } = await server.call("Login", { username: "iggy", password: "iggy" });
    assert.equal(user_id, 0);
    await server.call("ListStreams", {}, { token });
    await server.call("Logout", {}, { token });
    assert.equal((await server.refusal("ListStreams", {}, { token })).status, status.UNAUTHENTICATED);
  });

  test("takes a personal access token as well", async () => {
    const raw = new RawClient(server.tcpPort);
    assert.equal((await raw.login("iggy", "iggy")).code, 0);
    const body = encodeCreatePersonalAccessToken({ name: "unary", expiryMicros: 0n });
    const token = decodeCreatePersonalAccessTokenReply(
      (await raw.command("CreatePersonalAccessToken", body)).payload,
    );
    raw.close();
    assert.equal((await server.call("ListStreams", {}, { token })).streams.length, 1);
  });

  test("that is past its deadline is ended", async () => {
    const late = await server.refusal("ListStreams", {}, { deadline: Date.now() - 1 });
    assert.equal(late.status, status.DEADLINE_EXCEEDED);
    await server.call("ListStreams", {}, { deadline: Date.now() + 10_000 });
  });
});

test("over TLS the credentials of a stock client's channel carry the token of every call", async () => {
  const authority = await makeTestAuthority();
  const issued = await authority.issue(["127.0.0.1"]);
  const folder = await mkdtemp(join(tmpdir(), "millrace-grpc-tls-"));
  const files = { GRPC_TLS_CERT_FILE: join(folder, "cert.pem"), GRPC_TLS_KEY_FILE: join(folder, "key.pem") };
  await writeFile(files.GRPC_TLS_CERT_FILE, issued.certificate);
  await writeFile(files.GRPC_TLS_KEY_FILE, issued.privateKey);
  let token = "";
  const perCall = credentials.createFromMetadataGenerator((_parameters, done) => {
    const metadata = new Metadata();
    if (token !== "") metadata.set("authorization", `Bearer ${token}`);
    done(null, metadata);
  });
  const channel = credentials.createSsl(Buffer.from(authority.certificate));
  const server = await GrpcUnderTest.start(
    { ...files, GRPC_TLS_ENABLED: "true" },
    credentials.combineChannelCredentials(channel, perCall),
  );
  assert.equal((await server.refusal("ListStreams", {})).status, status.UNAUTHENTICATED);
  ({ token } = await server.call("Login", { username: "iggy", password: "iggy" }));
  assert.deepEqual(await server.call("ListStreams"), { streams: [] });
  await server.stop();
  await rm(folder, { recursive: true });
});
