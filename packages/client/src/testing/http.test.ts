import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ErrorCode, isCodedError, MillraceClient } from "../index.ts";
import { RealServer } from "./real-server.test.ts";

const server = new RealServer({ MILLRACE_HTTP_ENABLED: "true", MILLRACE_HTTP_ADDRESS: "127.0.0.1:0" });
const who = { username: "iggy", password: "iggy" };
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
let http: MillraceClient;
let tcp: MillraceClient;

before(async () => {
  await server.start();
  http = await MillraceClient.connect(`millrace+http://iggy:iggy@${server.httpAddress}?retries=unlimited`);
  tcp = await MillraceClient.connect({ ...who, address: server.address });
});

after(async () => {
  await http?.close();
  await tcp?.close();
  await server.remove();
});

/** The same call over both, which must agree. */
async function same<T>(ask: (client: MillraceClient) => Promise<T>): Promise<T> {
  const [overHttp, overTcp] = [await ask(http), await ask(tcp)];
  assert.deepEqual(overHttp, overTcp);
  return overHttp;
}

describe("a client over HTTP", { timeout: 60_000 }, () => {
  it("what is made over HTTP is the same over TCP, to the last field", async () => {
    assert.equal(http.userId, tcp.userId);
    assert.deepEqual(await http.createStream("shop"), await tcp.getStream("shop"));
    const topic = await http.createTopic("shop", {
      name: "orders",
      partitionsCount: 3,
      messageExpiry: 86_400_000_000n,
      durability: "persisted",
    });
    assert.deepEqual(topic, await tcp.getTopic("shop", "orders"));
    await http.createConsumerGroup("shop", "orders", "billing");
    await http.createPartitions("shop", "orders", 1);
    await http.updateTopic("shop", "orders", { name: "sales", maxTopicSize: 4_000_000_000n });
    await http.updateStream("shop", { name: "store" });
    const billing = { stream: "store", topic: "sales", group: "billing" };
    await same((client) => client.getStreams());
    await same((client) => client.getStream("store"));
    await same((client) => client.getTopics("store"));
    await same((client) => client.getTopic("store", "sales"));
    await same((client) => client.getTopicRetention("store", "sales"));
    await same((client) => client.getConsumerGroups("store", "sales"));
    await same((client) => client.getConsumerGroup(billing));
    await same((client) => client.describeOptions("topic"));
    await same((client) => client.getClusterMetadata());
    assert.equal((await http.getStats()).streamsCount, 1);
    assert.ok((await http.getClients()).some(({ transport }) => transport === "http"));
    await same((client) => client.getClient(4_000_000_000));
    assert.equal(await same((client) => client.getStream("none")), undefined);
    assert.equal(await same((client) => client.getTopic("store", "none")), undefined);
    await http.deletePartitions("store", "sales", 1);
    await http.deleteConsumerGroup(billing);
    await http.purgeTopic("store", "sales");
    await http.purgeStream("store");
    await http.deleteTopic("store", "sales");
    await http.deleteStream("store");
    assert.deepEqual(await tcp.getStreams(), []);
  });

  it("users and tokens are managed over HTTP, and either logs in there", async () => {
    const streams = { 7: { readStream: true, topics: { 9: { pollMessages: true } } } };
    const permissions = { global: { readStreams: true }, streams };
    await http.createUser({ username: "ann", password: "first-pw", permissions });
    await same((client) => client.getUser("ann"));
    await same((client) => client.getUsers());
    await http.updatePermissions("ann", undefined);
    await http.updateUser("ann", { username: "anna" });
    await http.changePassword("anna", { currentPassword: "first-pw", newPassword: "second-pw" });
    const address = server.httpAddress;
    const anna = await MillraceClient.connect({
      transport: "http",
      address,
      username: "anna",
      password: "second-pw",
    });
    const token = await anna.createPersonalAccessToken("ci-token", { expiry: 3_600_000_000n });
    const again = await MillraceClient.connect({ transport: "http", address, token });
    assert.equal(again.userId, anna.userId);
    assert.deepEqual(await again.getPersonalAccessTokens(), await anna.getPersonalAccessTokens());
    await again.deletePersonalAccessToken("ci-token");
    assert.deepEqual(await anna.getPersonalAccessTokens(), []);
    await assert.rejects(anna.getUsers(), hasCode(ErrorCode.Unauthorized));
    await anna.close();
    await again.close();
    await http.deleteUser("anna");
    const refused = MillraceClient.connect({ transport: "http", address, ...who, password: "wrong" });
    await assert.rejects(refused, hasCode(ErrorCode.InvalidCredentials));
  });

  it("messages go and come over HTTP with ids, headers and offsets as over TCP", async () => {
    await http.createStream("s");
    await http.createTopic("s", { name: "t", partitionsCount: 2 });
    const producer = http.producer({ stream: "s", topic: "t", partitioning: { partition: 1 } });
    const headers = { trace: "abc", wide: 2n ** 127n, flag: true };
    const ids = [1n, 2n ** 128n - 1n];
    for (const id of ids) await producer.send({ id, payload: `message ${id}`, headers });
    await producer.close();
    const place = { stream: "s", topic: "t", partitionId: 1, consumer: 7 };
    const poll = { ...place, startAt: "first", count: 10 } as const;
    const shown = await same(async (client) => {
      const { partitionId, currentOffset, messages } = await client.pollMessages(poll);
      const all = messages.map((one) => ({
        id: one.id,
        offset: one.offset,
        times: [one.timestamp, one.originTimestamp],
        checksum: one.checksum,
        text: one.text(),
        headers: [...one.headers],
        partitionId: one.partitionId,
      }));
      return { partitionId, currentOffset, all };
    });
    assert.deepEqual(
      shown.all.map(({ id }) => id),
      ids,
    );
    await http.storeConsumerOffset({ ...place, offset: 0n });
    assert.equal((await same((client) => client.getConsumerOffset(place)))?.storedOffset, 0n);
    const rest = await http.pollMessages({ ...place, startAt: "next", autoCommit: true });
    assert.deepEqual(
      rest.messages.map(({ offset }) => offset),
      [1n],
    );
    assert.equal((await tcp.getConsumerOffset(place))?.storedOffset, 1n);
    await http.deleteConsumerOffset(place);
    assert.equal(await same((client) => client.getConsumerOffset(place)), undefined);
  });

  it("a consumer reads over HTTP, and what HTTP has no route for is refused by a code", async () => {
    const consumer = http.consumer({ stream: "s", topic: "t", consumer: "c" });
    const texts: string[] = [];
    for await (const message of consumer) {
      texts.push(message.text());
      if (texts.length === 2) break;
    }
    await consumer.close();
    assert.match(texts[0] ?? "", /message 1/);
    const refused = (error: unknown) =>
      isCodedError(error, ErrorCode.FeatureUnavailable) && /tcp/.test(error.message);
    await assert.rejects(http.getMe(), refused);
    await http.createConsumerGroup("s", "t", "g");
    await assert.rejects(http.joinConsumerGroup({ stream: "s", topic: "t", group: "g" }), refused);
    const ofGroup = { stream: "s", topic: "t", partitionId: 0, consumer: { group: "g" } };
    await assert.rejects(http.getConsumerOffset(ofGroup), refused);
    await assert.rejects(http.getStream("42"), hasCode(ErrorCode.InvalidIdentifier));
  });

  it("errors have the server's codes, and its words where it says more", async () => {
    await assert.rejects(http.createStream("s"), hasCode(ErrorCode.StreamNameAlreadyExists));
    const tooMuch = [{ payload: "x".repeat(3_000_000) }];
    const sending = http.sendMessages({ stream: "s", topic: "t", messages: tooMuch });
    await assert.rejects(sending, hasCode(ErrorCode.FrameTooLarge));
    assert.ok((await http.getStreams()).length > 0, "the client goes on after a refusal");
    await assert.rejects(
      http.createTopic("s", { name: "u", partitionsCount: 1, options: { nonsense: "1" } }),
      (error: unknown) =>
        isCodedError(error, ErrorCode.UnsupportedOptionKey) && /nonsense/.test(error.message),
    );
  });

  it("a client over HTTP comes back after the server was killed; a read is repeated, and it logs in again", async () => {
    const address = server.httpAddress;
    await server.kill();
    const reading = http.getStreams();
    reading.catch(() => {});
    server.keepHttpAddress(address);
    await server.start();
    assert.deepEqual(
      (await reading).map(({ name }) => name),
      ["s"],
    );
    await http.deleteStream("s");
  });

  it("who comes to a port of another transport, or with TLS to one without, is told what to check", async () => {
    const tcp = server.address;
    const http = server.httpAddress;
    const cases = [
      { transport: "tcp", address: http, says: "TCP port (8090 unless it was changed), and that TLS is off" },
      {
        transport: "tcp",
        address: tcp,
        tls: true,
        says: "TCP port (8090 unless it was changed), and that TLS is on",
      },
      { transport: "http", address: tcp, says: "HTTP port (3000" },
      { transport: "http", address: http, tls: true, says: "and that TLS is on there as it is here" },
      { transport: "ws", address: tcp, says: "WebSocket port (8092" },
      { transport: "ws", address: http, says: "WebSocket port (8092" },
    ] as const;
    for (const { says, ...options } of cases) {
      const connecting = MillraceClient.connect({
        ...who,
        ...options,
        connectTimeoutMs: 1000,
        requestTimeoutMs: 2000,
      });
      await assert.rejects(connecting, (error: Error) => {
        assert.ok(error.message.includes(`Check that ${options.address} is the server's`), error.message);
        assert.ok(error.message.includes(says), error.message);
        return true;
      });
    }
    const nobody = MillraceClient.connect({ ...who, address: "127.0.0.1:1" });
    await assert.rejects(
      nobody,
      ({ message }: Error) => /ECONNREFUSED/.test(message) && !/Check/.test(message),
    );
  });
});
