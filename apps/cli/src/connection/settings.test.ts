import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClient } from "../fakes/fake-client.ts";
import { runFake } from "../fakes/fake-world.ts";
import { addressText, parseAddress } from "./settings.ts";

test("an address has a host and a port, and an IPv6 host stands in brackets", () => {
  assert.deepEqual(parseAddress("localhost:1"), { host: "localhost", port: 1 });
  assert.deepEqual(parseAddress("[::1]:8090"), { host: "::1", port: 8090 });
  assert.equal(addressText(parseAddress("[::1]:8090")), "[::1]:8090");
  for (const text of ["localhost", "localhost:0", "localhost:65536", ":8090", "::1:8090", "h:80x"]) {
    assert.throws(() => parseAddress(text), /HOST:PORT/, text);
  }
});

test("connection options reach the client, and defaults are those of compatible scripts", async () => {
  const client = new FakeClient().asClient();
  const [plain] = (await runFake(["me"], { client })).settings;
  assert.deepEqual(plain?.tcpServerAddress, { host: "127.0.0.1", port: 8090 });
  assert.deepEqual([plain?.tcpReconnectionMaxRetries, plain?.tcpReconnectionInterval], [10, 1_000_000n]);
  const typed = [
    "--tcp-server-address",
    "h:9",
    "--tcp-reconnection-max-retries",
    "0",
    "--tcp-tls-enabled",
    "false",
  ];
  const [given] = (await runFake([...typed, "--tcp-reconnection-interval", "250ms", "me"], { client }))
    .settings;
  assert.deepEqual(given?.tcpServerAddress, { host: "h", port: 9 });
  assert.deepEqual([given?.tcpReconnectionMaxRetries, given?.tcpReconnectionInterval], [0, 250_000n]);
});
