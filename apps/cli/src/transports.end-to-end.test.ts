import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { makeTestAuthority } from "@millrace/testkit";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runFake } from "./fakes/fake-world.ts";
import { runReal, type ServerUnderTest, spawnCli, startServer } from "./fakes/server-under-test.ts";

const folder = mkdtempSync(join(tmpdir(), "millrace-tls-"));
const inFolder = (name: string) => join(folder, name);
let server: ServerUnderTest;

before(async () => {
  const authority = await makeTestAuthority();
  const { certificate, privateKey } = await authority.issue(["127.0.0.1", "broker.test"]);
  writeFileSync(inFolder("ca.pem"), authority.certificate);
  writeFileSync(inFolder("cert.pem"), certificate);
  writeFileSync(inFolder("key.pem"), privateKey);
  const tls = (listener: string) => ({
    [`MILLRACE_${listener}_TLS_ENABLED`]: "true",
    [`MILLRACE_${listener}_TLS_SELF_SIGNED`]: "false",
    [`MILLRACE_${listener}_TLS_CERT_FILE`]: inFolder("cert.pem"),
    [`MILLRACE_${listener}_TLS_KEY_FILE`]: inFolder("key.pem"),
  });
  const webSocket = { MILLRACE_WEBSOCKET_ENABLED: "true", MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0" };
  const http = { MILLRACE_HTTP_ENABLED: "true", MILLRACE_HTTP_ADDRESS: "127.0.0.1:0" };
  server = await startServer({
    environment: { ...webSocket, ...http, ...tls("TCP"), ...tls("WEBSOCKET"), ...tls("HTTP") },
  });
});

after(async () => {
  assert.equal(await server?.stop(), 0);
  rmSync(folder, { recursive: true });
});

/** The options that reach the server over a transport with TLS, and what is different this time. */
function reach(transport: "tcp" | "ws" | "http", more: readonly string[] = []): string[] {
  if (transport === "http") {
    const own = more.map((text) => text.replace(/^--tls/, "--http-tls"));
    return ["--transport", "http", "--http-api-url", `https://${server.httpAddress}`, ...own];
  }
  const prefix = transport === "ws" ? "--websocket" : "--tcp";
  const address = transport === "ws" ? server.webSocketAddress : server.address;
  const own = more.map((text) => text.replace(/^--tls/, `${prefix}-tls`));
  return [
    "--transport",
    transport,
    `${prefix}-server-address`,
    address,
    `${prefix}-tls-enabled`,
    "true",
    ...own,
  ];
}

for (const transport of ["tcp", "ws", "http"] as const) {
  test(`a command over ${transport} with TLS checks the server's certificate unless it is told not to`, async () => {
    const command = transport === "http" ? ["cluster", "metadata"] : ["me"];
    const me = (...more: string[]) =>
      runFake([...reach(transport, more), ...command, "--output", "json"], { connect, openPinger });
    const trusted = await me("--tls-ca-file", inFolder("ca.pem"));
    assert.equal(trusted.exitCode, 0, trusted.stderr);
    if (transport !== "http")
      assert.equal(JSON.parse(trusted.stdout).transport, transport === "ws" ? "websocket" : "tcp");
    assert.equal((await me("--tls-ca-file", inFolder("ca.pem"), "--tls-domain", "broker.test")).exitCode, 0);
    assert.equal((await me("--tls-validate-certificate", "false")).exitCode, 0);
    const stranger = await me();
    assert.equal(stranger.exitCode, 3, stranger.stderr);
    assert.match(JSON.parse(stranger.stderr).error.next, /./);
    const other = await me("--tls-ca-file", inFolder("ca.pem"), "--tls-domain", "else.test");
    assert.equal(other.exitCode, 3);
    const missing = await me("--tls-ca-file", inFolder("none.pem"));
    assert.equal(missing.exitCode, 1);
    assert.match(JSON.parse(missing.stderr).error.next, /tls-ca-file/);
    const ping = await runFake([...reach(transport, ["--tls-ca-file", inFolder("ca.pem")]), "ping"], {
      openPinger,
    });
    assert.equal(ping.exitCode, 0, ping.stderr);
  });
}

test("the built command speaks WebSocket with TLS, by options and by a connection string of the environment", async () => {
  const ran = await runReal(
    [...reach("ws", ["--tls-ca-file", inFolder("ca.pem")]), "stream", "create", "s"],
    server,
  );
  assert.equal(ran.exitCode, 0, ran.stderr);
  const query = `tls=true&tls_ca_file=${inFolder("ca.pem")}`;
  const environment = {
    MILLRACE_CONNECTION_STRING: `millrace+ws://iggy:iggy@${server.webSocketAddress}?${query}`,
  };
  const listed = await runFake(["stream", "list", "--output", "json"], { connect, environment });
  assert.equal(JSON.parse(listed.stdout)[0].name, "s", listed.stderr);
});

test("a whole session of commands works on each transport", async () => {
  for (const transport of ["tcp", "ws"] as const) {
    const run = (...args: string[]) =>
      runFake([...reach(transport, ["--tls-ca-file", inFolder("ca.pem")]), ...args], { connect });
    for (const args of [
      ["stream", "create", transport],
      ["topic", "create", transport, "t", "1", "none"],
      ["message", "send", transport, "t", "hello"],
      ["message", "poll", transport, "t", "0", "--first"],
      ["message", "tail", transport, "t", "--group", "g", "--count", "1"],
    ]) {
      const ran = await run(...args);
      assert.equal(ran.exitCode, 0, `${args.join(" ")}: ${ran.stderr}`);
    }
    const lag = await run("group", "lag", transport, "t", "g", "--output", "json");
    assert.equal(JSON.parse(lag.stdout).messages_behind, 0, "the tail of the group committed what it showed");
  }
});

test("over HTTPS messages are sent, polled and tailed, and what HTTP cannot carry names what can", async () => {
  const run = (...args: string[]) =>
    runFake([...reach("http", ["--tls-ca-file", inFolder("ca.pem")]), ...args], { connect });
  const ok = async (...args: string[]) => {
    const ran = await run(...args);
    assert.equal(ran.exitCode, 0, `${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
  };
  await ok("stream", "create", "https");
  await ok("topic", "create", "https", "t", "2", "none");
  await ok("message", "send", "https", "t", "-p", "1", "hello");
  assert.match(await ok("message", "poll", "https", "t", "1", "--first"), /hello/);
  assert.match(await ok("message", "tail", "https", "t", "--first", "--count", "1"), /hello/);
  assert.match(await ok("topic", "get", "https", "t"), /Property/);
  await ok("group", "create", "https", "t", "g");
  for (const args of [
    ["message", "tail", "https", "t", "--group", "g", "--count", "1"],
    ["group", "lag", "https", "t", "g"],
    ["topic", "verify", "https", "t"],
    ["partition", "repair", "https", "t", "0"],
    ["consumer-offset", "get", "g", "https", "t", "0", "-k", "consumer-group"],
  ]) {
    const ran = await run(...args);
    assert.equal(ran.exitCode, 1, args.join(" "));
    assert.match(ran.stderr, /tcp, ws or grpc.*\(5 FeatureUnavailable\)\n {2}next: Use --transport tcp/);
  }
});

test("the built command speaks HTTPS, by a connection string too, and leaves no session behind", async () => {
  const query = `tls=true&tls_ca_file=${inFolder("ca.pem")}`;
  const string = `millrace+http://iggy:iggy@${server.httpAddress}?${query}`;
  const environment = { MILLRACE_CONNECTION_STRING: string };
  const { child, finished } = spawnCli(["client", "list", "--output", "json"], undefined, environment);
  child.stdin.end();
  const listed = await finished;
  assert.equal(listed.exitCode, 0, listed.stderr);
  const isHttp = ({ transport }: { transport: string }) => transport === "http";
  assert.equal(JSON.parse(listed.stdout).filter(isHttp).length, 1, "its own session alone");
});
