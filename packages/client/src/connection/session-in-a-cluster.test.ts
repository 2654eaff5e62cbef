import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeGetClusterMetadataReply } from "@millrace/protocol";
import { FakeServer, node } from "../testing/fake-server.test.ts";

const until = async (condition: () => boolean) => {
  for (let turns = 0; !condition(); turns += 1) {
    assert.ok(turns < 2000, "what was waited for never came");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
};

/** The platform of a server that notes which ports were asked; some may refuse. */
function watched({ platform }: FakeServer, refuses: (port: number) => boolean = () => false) {
  const asked: number[] = [];
  const { connect } = platform;
  const watching: typeof platform = {
    ...platform,
    connect: async (request) => {
      asked.push(request.port);
      if (!refuses(request.port)) return connect(request);
      throw new CodedError(ErrorCode.CannotEstablishConnection, "Nobody listens there.");
    },
  };
  return { asked, platform: watching };
}

test("a client of a cluster moves to the leader, which is where it stays", async () => {
  const server = new FakeServer();
  const { asked, platform } = watched(server);
  server.script = (request) => {
    if (request.command !== "GetClusterMetadata") return false;
    const nodes = [node("127.0.0.1", 8101, "follower"), node("127.0.0.1", 8102)];
    request.succeed(encodeGetClusterMetadataReply({ name: "three", nodes }));
    return true;
  };
  const client = await server.connect({ address: "localhost:8101", platform });
  assert.deepEqual(asked, [8101, 8102]);
  assert.equal(client.address, "127.0.0.1:8102");
  await client.close();
});

test("a client of a cluster whose node is gone goes to the others of the roster, as the same client", async () => {
  const server = new FakeServer();
  let gone = 0;
  const { asked, platform } = watched(server, (port) => port === gone);
  server.script = (request) => {
    if (request.command !== "GetClusterMetadata") return false;
    const leader = gone === 8101 ? 8102 : 8101;
    const nodes = [8101, 8102].map((port) =>
      node("127.0.0.1", port, port === leader ? "leader" : "follower"),
    );
    request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
    return true;
  };
  const client = await server.connect({ address: "127.0.0.1:8101", platform });
  gone = 8101;
  server.cut();
  await client.purgeStream(1);
  assert.deepEqual(asked, [8101, 8101, 8102]);
  assert.equal(client.address, "127.0.0.1:8102");
  assert.equal(new Set(server.received("LoginRegister").map(({ header }) => header.client)).size, 1);
  await client.close();
});

test("a client does not wait for a node that takes no login while another one does", async () => {
  const server = new FakeServer();
  const { asked, platform } = watched(server);
  let cutOff = 0;
  server.script = (request) => {
    if (request.command !== "LoginRegister" || asked.at(-1) !== cutOff) return false;
    request.deny(ErrorCode.TransientNotAccepted);
    return true;
  };
  const address = ["127.0.0.1:8101", "127.0.0.1:8102"];
  const client = await server.connect({ address, platform, requestTimeoutMs: 3000 });
  cutOff = 8101;
  server.cut();
  await client.purgeStream(1);
  assert.deepEqual(asked, [8101, 8101, 8102]);
  assert.equal(client.address, "127.0.0.1:8102");
  await client.close();
});

/**
 * Two nodes; `leader` is asked each time who leads, and the ports of connections are kept with their logins.
 */
function twoNodes(leader: () => number) {
  const server = new FakeServer();
  const { asked: ports, platform } = watched(server);
  const ended: number[] = [];
  const portOf = (connection: (typeof server.connections)[number]) =>
    ports[server.connections.indexOf(connection)] ?? 0;
  const roster: typeof server.script = (request) => {
    request.connection.onClose = () => ended.push(portOf(request.connection));
    if (request.command !== "GetClusterMetadata") return false;
    const nodes = [8101, 8102].map((port) =>
      node("127.0.0.1", port, port === leader() ? "leader" : "follower"),
    );
    request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
    return true;
  };
  return { server, platform, ended, portOf, roster };
}

test("a client that moves to the leader is logged in there before its connection to the first node ends", async () => {
  const { server, platform, ended, portOf, roster } = twoNodes(() => 8102);
  const endedAtLogin: number[][] = [];
  server.script = (request) => {
    if (request.command === "LoginRegister") endedAtLogin.push([portOf(request.connection), ...ended]);
    return roster(request);
  };
  const client = await server.connect({ address: "127.0.0.1:8101", platform });
  await until(() => ended.length === 1);
  assert.deepEqual(endedAtLogin, [[8101], [8102]]);
  assert.deepEqual(ended, [8101]);
  await client.close();
  await until(() => ended.length === 2);
});

test("a client that does not follow the leader stays on the node that was named, also when that refuses", async () => {
  const { server, platform, ended, roster } = twoNodes(() => 8102);
  let refusals = 30;
  server.script = (request) => {
    if (request.command !== "PurgeStream" || refusals === 0) return roster(request);
    refusals -= 1;
    request.reject(ErrorCode.TransientNotAccepted);
    return true;
  };
  const client = await server.connect({ address: "127.0.0.1:8101", platform, followLeader: false });
  await client.purgeStream(1);
  assert.equal(client.address, "127.0.0.1:8101");
  assert.deepEqual(ended, []);
  await client.close();
});

test("a client that leaves a node that refuses it keeps its old session until it has the new one", async () => {
  let leader = 8101;
  const { server, platform, ended, portOf, roster } = twoNodes(() => leader);
  const endedAtLogin: number[][] = [];
  const purged: number[] = [];
  server.script = (request) => {
    const port = portOf(request.connection);
    if (request.command === "LoginRegister") endedAtLogin.push([port, ...ended]);
    if (request.command === "PurgeStream") purged.push(port);
    if (request.command !== "PurgeStream" || port === 8102) return roster(request);
    leader = 8102;
    request.reject(ErrorCode.TransientNotAccepted);
    return true;
  };
  const client = await server.connect({ address: "127.0.0.1:8101", platform });
  await client.purgeStream(1);
  assert.equal(client.address, "127.0.0.1:8102");
  // The session of the second login took over that of the first.
  assert.deepEqual(endedAtLogin, [[8101], [8101], [8102, 8101]], "the newest session has its connection");
  await until(() => ended.length === 2);
  assert.deepEqual(new Set(server.received("PurgeStream").map(({ number }) => number)), new Set([1]));
  assert.equal(purged.filter((port) => port === 8102).length, 1);
  await client.close();
});

test("a login that is told 57 for a while, on each node, goes on until it is done", async () => {
  const { server, platform, portOf, roster } = twoNodes(() => 8102);
  let refusals = 3;
  server.script = (request) => {
    const isWaiting = portOf(request.connection) === 8101 || refusals-- > 0;
    if (request.command !== "LoginRegister" || !isWaiting) return roster(request);
    request.reject(ErrorCode.TransientNotCommitted);
    return true;
  };
  const address = ["127.0.0.1:8101", "127.0.0.1:8102"];
  const client = await server.connect({ address, platform, requestTimeoutMs: 2000 });
  const clients = server.received("LoginRegister").map(({ header }) => header.client);
  assert.equal(new Set(clients).size, 1, "the same identity on each node");
  assert.ok(server.connections.length >= 2);
  await client.close();
});
