import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { decodeLoginRegister, encodeGetClusterMetadataReply, nextRequestOf } from "@millrace/protocol";
import type { MillraceClient } from "../millrace-client.ts";
import { FakeServer, node } from "../testing/fake-server.test.ts";

const MESSAGES = { stream: 1, topic: 1, messages: [{ payload: "x" }] };

const contexts = (server: FakeServer) =>
  server.received("LoginRegister").map(({ body }) => decodeLoginRegister(body).context);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; !isTrue(); turns += 1) {
    assert.ok(turns < 2000, "it happens in time");
    await pause(1);
  }
}

/** Cuts the connection of a client that notices it. */
async function cut(server: FakeServer, client: MillraceClient): Promise<void> {
  server.cut();
  await until(() => !client.isConnected);
}

describe("The number that a login tells", () => {
  it("is the first one that was never sent, on whatever connection.", async () => {
    const server = new FakeServer();
    const client = await server.connect();
    for (let sends = 0; sends < 3; sends += 1) await client.sendMessages(MESSAGES);
    server.script = ({ command }) => command === "SendMessages";
    const waiting = [client.sendMessages(MESSAGES), client.sendMessages(MESSAGES)];
    await until(() => server.received("SendMessages").length === 5);
    server.cut();
    await until(() => server.received("SendMessages").length === 7);
    server.script = () => false;
    server.cut();
    await Promise.all(waiting);
    await client.sendMessages(MESSAGES);
    await cut(server, client);
    await client.sendMessages(MESSAGES);
    const numbers = [1, 6, 6, 7].map((next) => `next-request=${next}`);
    assert.deepEqual(contexts(server), numbers);
    await client.close();
  });

  it("is above all that the client has sent by then, however often it is cut off.", async () => {
    const server = new FakeServer();
    const told: { readonly next: number; readonly highest: number }[] = [];
    let [highest, count] = [0, 0];
    server.script = (request) => {
      if (request.command === "LoginRegister") {
        const next = Number(nextRequestOf(decodeLoginRegister(request.body).context) ?? 0);
        told.push({ next, highest });
      }
      if (request.command !== "SendMessages") return false;
      highest = Math.max(highest, request.number);
      count += 1;
      if (count % 7 !== 0) return false;
      server.cut();
      return true;
    };
    const client = await server.connect({ reconnect: { intervalMs: 1, jitter: 0, retries: 1000 } });
    await Promise.all(Array.from({ length: 60 }, () => client.sendMessages(MESSAGES)));
    assert.ok(told.length > 5);
    for (const { next, highest: before } of told) assert.ok(next > before);
    assert.ok(told.every(({ next }) => next <= 61));
    await client.close();
  });

  it("is told anew by a login that goes again, and at each node on the way to the leader.", async () => {
    const server = new FakeServer();
    let refusals = 0;
    server.script = (request) => {
      if (request.command === "GetClusterMetadata" && server.logins % 2 === 1) {
        const nodes = [node("127.0.0.1", 8090, "follower"), node("127.0.0.1", 8091)];
        request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
        return true;
      }
      if (request.command !== "LoginRegister" || refusals === 0) return false;
      refusals -= 1;
      request.reject(refusals === 0 ? ErrorCode.TransientNotCommitted : ErrorCode.TransientNotAccepted);
      return true;
    };
    const client = await server.connect();
    for (let sends = 0; sends < 2; sends += 1) await client.sendMessages(MESSAGES);
    refusals = 2;
    await cut(server, client);
    await client.sendMessages(MESSAGES);
    const told = contexts(server);
    assert.deepEqual(new Set(told.slice(0, 2)), new Set(["next-request=1"]));
    assert.ok(told.length >= 5);
    assert.deepEqual(new Set(told.slice(2)), new Set(["next-request=3"]));
    await client.close();
  });

  it("is not told over HTTP, where a request that comes again is not known.", async () => {
    const server = new FakeServer();
    const client = await server.connect({ transport: "http" });
    assert.deepEqual(contexts(server), [""]);
    await client.close();
  });
});
