import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeSendMetadata, encodeGetClusterMetadataReply } from "@millrace/protocol";
import { FakeServer, node } from "../testing/fake-server.test.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("no new number is given out while one a hundred behind is unanswered, so no repetition looks forgotten", async () => {
  const server = new FakeServer();
  let isRefusing = true;
  server.script = (request) => {
    if (request.command !== "SendMessages" || !isRefusing) return false;
    const { topic } = decodeSendMetadata(request.body);
    if (topic.kind === "name" && topic.name === "slow") request.deny(ErrorCode.TransientNotCommitted);
    else return false;
    return true;
  };
  const client = await server.connect();
  const messages = [{ payload: "x" }];
  const slow = client.sendMessages({ stream: 1, topic: "slow", messages });
  const quick = Array.from({ length: 150 }, () =>
    client.sendMessages({ stream: 1, topic: "quick", messages }),
  );
  const newest = () => Math.max(0, ...server.received("SendMessages").map((request) => request.number));
  for (let turns = 0; newest() < 100 && turns < 5000; turns += 1) await pause(1);
  await pause(80);
  assert.equal(newest(), 100);
  isRefusing = false;
  await Promise.all([slow, ...quick]);
  assert.equal(new Set(server.received("SendMessages").map((request) => request.number)).size, 151);
  await client.close();
});

test("a node of a cluster that refuses for two seconds is left, and the request goes where the leader is", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command === "GetClusterMetadata") {
      const nodes = [node("127.0.0.1", 8090), node("127.0.0.1", 8091, "follower")];
      request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
      return true;
    }
    if (request.command !== "PurgeStream" || server.logins > 1) return false;
    request.deny(ErrorCode.TransientNotAccepted);
    return true;
  };
  const client = await server.connect();
  await client.purgeStream(1);
  assert.equal(server.logins, 2);
  assert.equal(new Set(server.received("PurgeStream").map((request) => request.number)).size, 1);
  await client.close();
});

test("a roster without a healthy leader is asked for again, and then the client stays where it is", async () => {
  const server = new FakeServer();
  let asked = 0;
  server.script = (request) => {
    if (request.command !== "GetClusterMetadata") return false;
    asked += 1;
    const leader = { ...node("127.0.0.1", 8090), status: asked < 3 ? "starting" : "healthy" } as const;
    const nodes = [leader as ReturnType<typeof node>, node("127.0.0.1", 8091, "follower")];
    request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
    return true;
  };
  const client = await server.connect();
  assert.equal(asked, 3);
  assert.equal(server.logins, 1);
  await client.close();
});

test("an error in place of the roster is ignored, a login that cannot commit goes again", async () => {
  const server = new FakeServer();
  let refusals = 2;
  server.script = (request) => {
    if (request.command === "GetClusterMetadata") request.deny(ErrorCode.FeatureUnavailable);
    else if (request.command === "LoginRegister" && refusals-- > 0)
      request.reject(ErrorCode.TransientNotAccepted);
    else return false;
    return true;
  };
  const client = await server.connect();
  assert.equal(server.received("LoginRegister").length, 3);
  await client.ping();
  await client.close();
});

test("a read that was refused all the time says so; one whose connection was lost meanwhile does not", async () => {
  for (const isCut of [false, true]) {
    const server = new FakeServer();
    let asked = 0;
    server.script = (request) => {
      if (request.command !== "GetStats") return false;
      asked += 1;
      if (!isCut || asked < 3) request.deny(ErrorCode.TransientNotCommitted);
      else if (asked === 3) server.cut();
      return true;
    };
    const client = await server.connect({ requestTimeoutMs: 800, reconnect: { intervalMs: 10 } });
    const error = await client.getStats().then(() => assert.fail(), asCoded);
    assert.equal(error.code, ErrorCode.RequestTimeout);
    assert.equal((error.cause as CodedError | undefined)?.code, isCut ? undefined : 57);
    await client.close();
  }
});

function asCoded(error: unknown): CodedError {
  assert.ok(error instanceof CodedError);
  return error;
}

test("a write whose answer was lost is unknown when it is not accepted later; one that was never taken is not", async () => {
  for (const first of ["cut", "unsure", "none"] as const) {
    const server = new FakeServer();
    let sent = 0;
    server.script = (request) => {
      if (request.command !== "SendMessages") return false;
      sent += 1;
      if (first === "none" || sent > 1) request.deny(ErrorCode.TransientNotAccepted);
      else if (first === "unsure") request.deny(ErrorCode.TransientNotCommitted);
      else server.cut();
      return true;
    };
    const client = await server.connect({ reconnect: { intervalMs: 10 } });
    const error = await client
      .sendMessages({ stream: 1, topic: 1, messages: [{ payload: "x" }] })
      .then(() => assert.fail(), asCoded);
    const expected = first === "none" ? ErrorCode.TransientNotAccepted : ErrorCode.OutcomeUnknown;
    assert.equal(error.code, expected, first);
    await client.close();
  }
});
