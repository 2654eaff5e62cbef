import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { xxh3_64 } from "@millrace/framing";
import { EvictionReason, PROTOCOL_VERSION } from "@millrace/protocol";
import { FakeServer } from "../testing/fake-server.test.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const until = async (condition: () => boolean) => {
  for (let turns = 0; !condition(); turns += 1) {
    assert.ok(turns < 2000, "what was waited for never came");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

test("a client logs in with number 0 and a checksum, asks for the roster, and names the server", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  assert.deepEqual(
    server.requests.map((request) => request.command),
    ["LoginRegister", "GetClusterMetadata"],
  );
  const [login, roster] = server.requests;
  assert.equal(login?.header.request, 0n);
  assert.equal(login?.header.session, 0n);
  assert.equal(login?.header.requestChecksum, xxh3_64(login?.body ?? new Uint8Array()));
  assert.notEqual(login?.header.client, 0n);
  assert.equal(roster?.header.session, 10n);
  assert.equal(client.serverVersion, "0.9.0");
  assert.equal(client.isConnected, true);
  await client.close();
  assert.equal(client.isConnected, false);
});

test("replies in fragments of any length are put together", async () => {
  let turn = 0;
  const server = new FakeServer((length) => Math.min(length, [1, 7, 255, 300][turn++ % 4] ?? 1));
  const client = await server.connect();
  await Promise.all(Array.from({ length: 20 }, () => client.ping()));
  await client.close();
});

test("catalog and partition operations take a number each, reads none, and catalog operations go one by one", async () => {
  const server = new FakeServer();
  const held: (() => void)[] = [];
  server.script = (request) => {
    if (request.command !== "DeleteStream") return false;
    held.push(() => request.succeed());
    return true;
  };
  const client = await server.connect();
  const first = client.deleteStream(1);
  const second = client.deleteStream(2);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(server.received("DeleteStream").length, 1, "the second waits for the first");
  held.shift()?.();
  await first;
  await until(() => held.length === 1);
  held.shift()?.();
  await second;
  await client.storeConsumerOffset({ stream: 1, topic: 1, consumer: 1, offset: 1n });
  await client.ping();
  const numbers = server.received("DeleteStream").map((request) => request.number);
  assert.deepEqual(numbers, [1, 2]);
  const [firstDelete] = server.received("DeleteStream");
  assert.equal(firstDelete?.header.requestChecksum, xxh3_64(firstDelete?.body ?? new Uint8Array()));
  assert.equal(server.received("StoreConsumerOffset")[0]?.number, 3);
  assert.equal(server.received("StoreConsumerOffset")[0]?.header.requestChecksum, 0n);
  assert.deepEqual(
    server.received("Ping").map((request) => request.number),
    [4],
  );
  await client.close();
});

test("several requests are in flight at once, and not more than allowed", async () => {
  const server = new FakeServer();
  const held: (() => void)[] = [];
  server.script = (request) => {
    if (request.command !== "Ping") return false;
    held.push(() => request.succeed());
    return true;
  };
  const client = await server.connect({ inFlightMax: 3 });
  const pings = Array.from({ length: 5 }, () => client.ping());
  await until(() => held.length === 3);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(held.length, 3);
  while (held.length > 0) held.shift()?.();
  await until(() => held.length === 2);
  while (held.length > 0) held.shift()?.();
  await Promise.all(pings);
  await client.close();
});

for (const [code, how] of [
  [ErrorCode.TransientNotCommitted, "in the result section"],
  [ErrorCode.TransientNotAccepted, "in the header"],
] as const) {
  test(`${code} ${how} makes the same request go again under its number until it succeeds`, async () => {
    const server = new FakeServer();
    let refusals = 3;
    server.script = (request) => {
      if (request.command !== "PurgeStream" || refusals-- <= 0) return false;
      if (how === "in the header") request.deny(code);
      else request.reject(code);
      return true;
    };
    const client = await server.connect();
    await client.purgeStream("s");
    const requests = server.received("PurgeStream");
    assert.equal(requests.length, 4);
    for (const request of requests) assert.deepEqual(request.headerBytes, requests[0]?.headerBytes);
    await client.close();
  });
}

test("58 is believed for two seconds on a single node and then comes out", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command !== "PurgeStream") return false;
    request.deny(ErrorCode.TransientNotAccepted);
    return true;
  };
  const client = await server.connect();
  const startMs = performance.now();
  await assert.rejects(client.purgeStream("s"), hasCode(ErrorCode.TransientNotAccepted));
  assert.ok(performance.now() - startMs >= 1900);
  await client.close();
});

test("a code of the server comes out as its error, in both places a reply has for it", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command === "DeleteStream") request.reject(ErrorCode.StreamIdNotFound);
    else if (request.command === "GetStats") request.deny(ErrorCode.Unauthorized);
    else return false;
    return true;
  };
  const client = await server.connect();
  await assert.rejects(client.deleteStream(9), (error) => {
    assert.ok(isCodedError(error, ErrorCode.StreamIdNotFound));
    assert.match(error.message, /1009.*stream id not found.*List the streams/);
    return true;
  });
  await assert.rejects(client.getStats(), hasCode(ErrorCode.Unauthorized));
  await client.ping();
  await client.close();
});

test("absent things are undefined, a reply that does not decode is error 3", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command !== "GetTopic" || request.body.length > 12) return false;
    request.succeed(new Uint8Array(5));
    return true;
  };
  const client = await server.connect();
  assert.equal(await client.getStream("nope"), undefined);
  assert.equal(await client.getClient(7), undefined);
  await assert.rejects(client.getTopic(1, 1), hasCode(ErrorCode.InvalidCommand));
  await client.close();
});

test("a wrong password fails connect with 42, a wrong token with 53, an inactive user with 40", async () => {
  for (const [reason, code] of [
    [EvictionReason.InvalidCredentials, ErrorCode.InvalidCredentials],
    [EvictionReason.InvalidToken, ErrorCode.InvalidPersonalAccessToken],
    [EvictionReason.UserInactive, ErrorCode.Unauthenticated],
    [EvictionReason.MalformedLogin, ErrorCode.InvalidFormat],
  ] as const) {
    const server = new FakeServer();
    server.script = (request) => {
      request.evict(reason);
      return true;
    };
    await assert.rejects(server.connect(), hasCode(code));
    assert.equal(server.connections.length, 1, "a refused login is not repeated");
  }
});

test("another protocol version fails connect and says which versions the server takes", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    request.evict(EvictionReason.IncompatibleProtocol, PROTOCOL_VERSION);
    return true;
  };
  await assert.rejects(server.connect(), (error) => {
    assert.ok(isCodedError(error, ErrorCode.IncompatibleProtocolVersion));
    assert.match(error.message, /0\.11\.0/);
    return true;
  });
});

test("a server that does not listen is named by host and port, at once", async () => {
  const server = new FakeServer();
  server.isListening = false;
  await assert.rejects(server.connect({ address: "db.example:8099" }), (error) => {
    assert.ok(isCodedError(error, ErrorCode.CannotEstablishConnection));
    assert.match(error.message, /db\.example:8099/);
    return true;
  });
});

test("a lost connection is made again: reads and catalog changes go again, the id stays, numbers go on", async () => {
  const server = new FakeServer();
  let cuts = 1;
  server.script = (request) => {
    if (request.command !== "CreateStream" && request.command !== "GetStreams") return false;
    if (request.command === "CreateStream" && cuts-- > 0) {
      server.cut();
      return true;
    }
    if (request.command === "CreateStream") request.reject(ErrorCode.StreamNameAlreadyExists);
    return request.command === "CreateStream";
  };
  const client = await server.connect();
  const events: string[] = [];
  for (const event of ["connected", "disconnected", "reconnecting"] as const) {
    client.on(event, (facts) => events.push(`${event} ${facts.attempt ?? ""}`.trim()));
  }
  await client.deleteStream(1);
  const created = client.createStream("s");
  const listed = client.getStreams();
  await assert.rejects(created, hasCode(ErrorCode.StreamNameAlreadyExists));
  assert.deepEqual(await listed, []);
  const [before, again] = server.received("CreateStream");
  assert.equal(before?.number, 2);
  assert.equal(again?.number, 2);
  assert.equal(again?.header.client, before?.header.client);
  assert.equal(again?.header.session, 20n);
  assert.deepEqual(events, ["disconnected", "reconnecting 1", "connected"]);
  await client.close();
});

test("an eviction in the middle of a session leads to a new login and the request goes again", async () => {
  const server = new FakeServer();
  let evictions = 1;
  server.script = (request) => {
    if (request.command !== "PurgeStream" || evictions-- <= 0) return false;
    request.evict(EvictionReason.StaleClient);
    return true;
  };
  const client = await server.connect();
  let reason: unknown;
  client.on("disconnected", ({ error }) => {
    reason = error;
  });
  await client.purgeStream(1);
  assert.equal(server.logins, 2);
  assert.ok(isCodedError(reason, ErrorCode.StaleClient));
  await client.close();
});

test("without reconnecting the first loss ends the client and everything it waits for", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command !== "Ping") return false;
    server.cut();
    return true;
  };
  const client = await server.connect({ reconnect: false });
  await assert.rejects(client.ping(), hasCode(ErrorCode.Disconnected));
  await assert.rejects(client.getStreams(), hasCode(ErrorCode.Disconnected));
  await client.close();
});

test("after the last attempt to reconnect the client ends with the error of that attempt", async () => {
  const server = new FakeServer();
  const client = await server.connect({ reconnect: { retries: 3, intervalMs: 1 } });
  server.isListening = false;
  server.cut();
  await assert.rejects(client.ping(), hasCode(ErrorCode.CannotEstablishConnection));
  await client.close();
});

test("a login that a server answers with a refusal leaves no connection behind, however often it is tried", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  let refusals = 5;
  const open = new Set<unknown>();
  server.script = (request) => {
    open.add(request.connection);
    request.connection.onClose = () => open.delete(request.connection);
    if (request.command !== "LoginRegister" || refusals-- <= 0) return false;
    request.deny(ErrorCode.ShuttingDown);
    return true;
  };
  server.cut();
  await client.ping();
  assert.equal(server.connections.length, 7);
  await until(() => open.size === 1);
  assert.ok(open.has(server.connections[6]), "the one it is logged in on");
  await client.close();
  await until(() => open.size === 0);
});

test("a login that is refused for good leaves no connection behind", async () => {
  const server = new FakeServer();
  let closed = 0;
  server.script = (request) => {
    request.connection.onClose = () => {
      closed += 1;
    };
    request.deny(ErrorCode.Unauthorized);
    return true;
  };
  await assert.rejects(server.connect(), hasCode(ErrorCode.Unauthorized));
  await until(() => closed === 1);
});

test("credentials that are refused on a reconnect end the client", async () => {
  const server = new FakeServer();
  const client = await server.connect();
  server.script = (request) => {
    if (request.command !== "LoginRegister") return false;
    request.evict(EvictionReason.InvalidCredentials);
    return true;
  };
  const waiting = client.ping();
  await waiting;
  server.cut();
  await until(() => !client.isConnected);
  await assert.rejects(client.ping(), hasCode(ErrorCode.InvalidCredentials));
  await client.close();
});

test("a server that stays silent is given up: reads time out, writes have an unknown outcome, the next call works", async () => {
  const server = new FakeServer();
  server.script = (request) => ["GetStreams", "DeleteStream"].includes(request.command);
  const client = await server.connect({ requestTimeoutMs: 400 });
  await assert.rejects(client.getStreams(), hasCode(ErrorCode.RequestTimeout));
  await assert.rejects(client.deleteStream(1), hasCode(ErrorCode.OutcomeUnknown));
  await client.ping();
  assert.ok(server.logins >= 2);
  await client.close();
});

test("a call that finds no connection waits for one, and not longer than its time", async () => {
  const server = new FakeServer();
  const client = await server.connect({ requestTimeoutMs: 400 });
  server.isListening = false;
  server.cut();
  await until(() => !client.isConnected);
  await assert.rejects(client.deleteStream(1), hasCode(ErrorCode.RequestTimeout));
  server.isListening = true;
  await until(() => client.isConnected);
  await client.deleteStream(1);
  await client.close();
});

test("a reply that answers nothing in flight costs the connection, not the client", async () => {
  const server = new FakeServer();
  let lies = 1;
  server.script = (request) => {
    if (request.command !== "Ping" || lies-- <= 0) return false;
    request.succeed(new Uint8Array(0), 200);
    return true;
  };
  const client = await server.connect();
  await client.getStreams();
  await client.ping().catch(() => {});
  await client.ping();
  assert.equal(server.logins, 2);
  await client.close();
});

test("an idle client pings, a busy one does not", async () => {
  const server = new FakeServer();
  const client = await server.connect({ heartbeatIntervalMs: 20 });
  await until(() => server.received("Ping").length >= 2);
  await client.close();
});

test("the abort signal ends the client, what it waits for, and an attempt to reconnect", async () => {
  const server = new FakeServer();
  server.script = (request) => request.command === "GetStreams";
  const abort = new AbortController();
  const client = await server.connect({ signal: abort.signal });
  const waiting = client.getStreams();
  abort.abort();
  await assert.rejects(waiting, hasCode(ErrorCode.Aborted));
  await assert.rejects(client.ping(), hasCode(ErrorCode.Aborted));
  await client.close();
  await assert.rejects(server.connect({ signal: abort.signal }), hasCode(ErrorCode.Aborted));

  const second = new AbortController();
  const other = await server.connect({ signal: second.signal, reconnect: { intervalMs: 60_000 } });
  server.cut();
  await until(() => !other.isConnected);
  second.abort();
  await assert.rejects(other.ping(), hasCode(ErrorCode.Aborted));
});

test("close lets calls finish, can be repeated, and refuses what comes later", async () => {
  const server = new FakeServer();
  const held: (() => void)[] = [];
  server.script = (request) => {
    if (request.command !== "PurgeStream") return false;
    held.push(() => request.succeed());
    return true;
  };
  const client = await server.connect();
  const purging = client.purgeStream(1);
  const closing = client.close();
  assert.equal(client.close(), closing);
  await until(() => held.length === 1);
  held[0]?.();
  await purging;
  await closing;
  await assert.rejects(client.ping(), hasCode(ErrorCode.ClientShutdown));
});

test("a listener that throws does not disturb the client, and its error surfaces on its own", async (t) => {
  const server = new FakeServer();
  const client = await server.connect();
  const caught: unknown[] = [];
  const { queueMicrotask: queue } = globalThis;
  t.mock.method(globalThis, "queueMicrotask", (callback: () => void) =>
    queue(() => {
      try {
        callback();
      } catch (error) {
        caught.push(error);
      }
    }),
  );
  client.on("disconnected", () => {
    throw new Error("from a listener");
  });
  server.cut();
  await until(() => caught.length > 0);
  assert.match(String(caught[0]), /from a listener/);
  await client.ping();
  await client.close();
});
