import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClient } from "../fakes/fake-client.ts";
import { runFake } from "../fakes/fake-world.ts";
import { addressText, parseAddress } from "./address.ts";

const USER = { MILLRACE_USERNAME: "iggy", MILLRACE_PASSWORD: "iggy" };

/** What a command line would connect with. */
async function targetOf(args: readonly string[], environment: Record<string, string> = {}) {
  const client = new FakeClient().asClient();
  const ran = await runFake([...args, "me"], { client, environment: { ...USER, ...environment } });
  assert.equal(ran.exitCode, 0, ran.stderr);
  const [settings] = ran.settings;
  assert.ok(settings !== undefined);
  return { ...settings.target, credentials: settings.credentials };
}

test("an address has a host and a port, and an IPv6 host stands in brackets", () => {
  assert.deepEqual(parseAddress("localhost:1"), { host: "localhost", port: 1 });
  assert.deepEqual(parseAddress("[::1]:8090"), { host: "::1", port: 8090 });
  assert.equal(addressText(parseAddress("[::1]:8090")), "[::1]:8090");
  for (const text of ["localhost", "localhost:0", "localhost:65536", ":8090", "::1:8090", "h:80x"]) {
    assert.throws(() => parseAddress(text), /HOST:PORT/, text);
  }
});

test("connection options reach the client, and defaults are those of compatible scripts", async () => {
  const plain = await targetOf([]);
  const reconnect = { retries: 10, intervalMs: 1000, factor: 1 };
  assert.deepEqual(
    [plain.address, plain.client],
    ["127.0.0.1:8090", { transport: "tcp", tls: false, reconnect }],
  );
  const typed = [
    "--tcp-server-address",
    "h:9",
    "--tcp-reconnection-max-retries",
    "0",
    "--tcp-tls-enabled",
    "false",
  ];
  const given = await targetOf([...typed, "--tcp-reconnection-interval", "250ms"]);
  assert.deepEqual(
    [given.address, given.client.reconnect],
    ["h:9", { retries: 0, intervalMs: 250, factor: 1 }],
  );
  const endless = await targetOf(["--tcp-reconnection-max-retries", "unlimited"]);
  assert.deepEqual(endless.client.reconnect, { ...reconnect, retries: Number.POSITIVE_INFINITY });
});

test("a WebSocket has options of its own, and TLS checks the server unless told otherwise", async () => {
  const plain = await targetOf(["--transport", "ws"]);
  assert.deepEqual([plain.address, plain.client.transport], ["127.0.0.1:8092", "ws"]);
  const tls = [
    "--websocket-tls-enabled",
    "--websocket-tls-domain",
    "example.org",
    "--websocket-tls-ca-file",
    "ca.pem",
  ];
  const secure = await targetOf(["--transport", "ws", ...tls]);
  assert.deepEqual(secure.client.tls, { validate: true, domain: "example.org", caFile: "ca.pem" });
  const open = await targetOf(["--tcp-tls-enabled", "true", "--tcp-tls-validate-certificate", "false"]);
  assert.deepEqual(open.client.tls, { validate: false });
});

test("a connection string says address, transport, TLS and credentials, and stands alone", async () => {
  const query = "tls=true&tls_ca_file=ca.pem&reconnection_retries=2&reconnection_interval=3s";
  const given = await targetOf(["--connection-string", `millrace+ws://ann:secret@h:7?${query}`]);
  assert.deepEqual([given.address, given.credentials], ["h:7", { username: "ann", password: "secret" }]);
  const reconnect = { retries: 2, intervalMs: 3000, factor: 1 };
  assert.deepEqual(given.client, { transport: "ws", tls: { validate: true, caFile: "ca.pem" }, reconnect });
  const token = await targetOf([], { MILLRACE_CONNECTION_STRING: "iggy://tok@h:1" });
  assert.deepEqual([token.address, token.credentials], ["h:1", { token: "tok" }]);
  for (const more of [
    ["-u", "x"],
    ["--tcp-server-address", "h:1"],
  ]) {
    const ran = await runFake(["--connection-string", "iggy://a:b@h:1", ...more, "me"]);
    assert.equal(ran.exitCode, 2);
    assert.match(ran.stderr, /--connection-string says it all; leave out --(username|tcp-server-address)/);
  }
  const wrong = await runFake(["--connection-string", "iggy://a:b@h:1?colour=red", "me"]);
  assert.match(wrong.stderr, /The option colour is not known/);
  assert.doesNotMatch(wrong.stderr, /a:b@/);
});

test("variables of the environment set address and transport below what is typed", async () => {
  const environment = { MILLRACE_TCP_SERVER_ADDRESS: "env:1", MILLRACE_WEBSOCKET_SERVER_ADDRESS: "env:2" };
  assert.equal((await targetOf([], environment)).address, "env:1");
  assert.equal((await targetOf([], { ...environment, MILLRACE_TRANSPORT: "ws" })).address, "env:2");
  assert.equal((await targetOf(["--tcp-server-address", "typed:3"], environment)).address, "typed:3");
  const wrong = await runFake(["me"], { environment: { ...USER, MILLRACE_TCP_SERVER_ADDRESS: "nowhere" } });
  assert.equal(wrong.exitCode, 2);
  assert.match(wrong.stderr, /MILLRACE_TCP_SERVER_ADDRESS is wrong\. It must have the form HOST:PORT/);
});

test("the address of the HTTP API says host, port and whether it is encrypted, and nothing else", async () => {
  const http = (...more: string[]) => targetOf(["--transport", "http", ...more]);
  const standard = await http();
  assert.equal(standard.address, "localhost:3000");
  assert.deepEqual(standard.client, { transport: "http", tls: false, reconnect: { retries: 3 } });
  const checks = [
    "--http-tls-ca-file",
    "ca.pem",
    "--http-tls-domain",
    "h.org",
    "--http-retries",
    "unlimited",
  ];
  const secure = await http("--http-api-url", "https://[::1]:3001", ...checks);
  assert.equal(secure.address, "[::1]:3001");
  assert.deepEqual(secure.client, {
    transport: "http",
    tls: { validate: true, domain: "h.org", caFile: "ca.pem" },
    reconnect: { retries: Number.POSITIVE_INFINITY },
  });
  assert.equal((await http("--http-api-url", "http://h")).address, "h:80");
  assert.equal((await http("--http-api-url", "https://h/")).address, "h:443");
  const query = "retries=2&tls=true&tls_validate_certificate=false";
  const said = await targetOf(["--connection-string", `iggy+http://ann:secret@h:7?${query}`]);
  assert.deepEqual([said.address, said.credentials], ["h:7", { username: "ann", password: "secret" }]);
  assert.deepEqual(said.client, { transport: "http", tls: { validate: false }, reconnect: { retries: 2 } });
  for (const url of ["ftp://h:1", "http://h:1/api", "http://a:b@h:1", "h:3000", "http://h:1?x=1"]) {
    const ran = await runFake(["--transport", "http", "--http-api-url", url, "me"]);
    assert.equal(ran.exitCode, 2, url);
    assert.match(ran.stderr, /http:\/\/HOST:PORT/);
  }
});

test("transports that are not built say so, and what to use", async () => {
  const ran = await runFake(["--transport", "quic", "me"]);
  assert.equal(ran.exitCode, 1);
  assert.match(ran.stderr, /does not speak QUIC .*FeatureUnavailable.*\n {2}next: Use --transport tcp/);
  assert.equal((await runFake(["--transport", "carrier-pigeon", "me"])).exitCode, 2);
});
