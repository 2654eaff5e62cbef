import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { resolveOptions } from "./client-options.ts";
import { parseConnectionString } from "./connection-string.ts";
import { formatServerAddress, isSameServer, parseServerAddress } from "./server-address.ts";

test("user, password, host, port and options are read", () => {
  const text =
    "iggy://iggy:p@ss:word@db.example:8099?heartbeat_interval=1m 500ms&reconnection_retries=7&reconnection_interval=2s" +
    "&reestablish_after=5s&nodelay=false&tls=false&nodelay=true";
  assert.deepEqual(parseConnectionString(text), {
    address: "db.example:8099",
    username: "iggy",
    password: "p@ss:word",
    heartbeatIntervalMs: 60_500,
    reconnect: { retries: 7, intervalMs: 2000 },
    noDelay: true,
  });
  assert.equal(parseConnectionString("millrace+tcp://u:p@h:1?reconnection_retries=unlimited").address, "h:1");
  assert.equal(parseConnectionString("iggy+tcp://token-text@h:1").token, "token-text");
});

test("transport and TLS are read, and settings of official clients without effect here are accepted", () => {
  const text =
    "iggy+ws://u:p@h:1?tls=true&tls_domain=a.example&tls_ca_file=/ca.pem&tls_validate_certificate=true" +
    "&read_buffer_size=1&write_buffer_size=1&max_write_buffer_size=1&max_message_size=1&max_frame_size=1" +
    "&accept_unmasked_frames=true";
  const expected = { address: "h:1", username: "u", password: "p", reconnect: {}, transport: "ws" };
  const tls = { domain: "a.example", caFile: "/ca.pem", validate: true };
  assert.deepEqual(parseConnectionString(text), { ...expected, tls });
  assert.deepEqual(parseConnectionString("millrace+ws://u:p@h:1?tls_domain=a.example"), expected);
  assert.deepEqual(parseConnectionString("millrace://u:p@h:1?tls=true").tls, {});
});

test("what is wrong with a connection string is said without repeating it", () => {
  for (const [text, code] of [
    ["http://u:secret@h:1", ErrorCode.InvalidConnectionString],
    ["iggy://h:1", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:0", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:65536", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@[::1]:8090", ErrorCode.InvalidConnectionString],
    ["iggy://@h:1", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?colour=red", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?toString=1", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?nodelay", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?heartbeat_interval=5", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?heartbeat_interval=5constructor", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?reconnection_retries=many", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?tls=yes", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?tls_domain=", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?tls_ca_file=", ErrorCode.InvalidConnectionString],
    ["iggy://u:secret@h:1?tls_validate_certificate=no", ErrorCode.InvalidConnectionString],
    ["iggy+quic://u:secret@h:1", ErrorCode.FeatureUnavailable],
  ] as const) {
    assert.throws(
      () => parseConnectionString(text),
      (error) => {
        assert.ok(isCodedError(error, code), text);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  }
});

test("options have defaults, and what is out of bounds is named", () => {
  const options = resolveOptions({ username: "u", password: "p" });
  assert.deepEqual(options.addresses, [{ host: "127.0.0.1", port: 8090 }]);
  assert.equal(options.heartbeatIntervalMs, 5000);
  assert.deepEqual([options.transport, options.tls], ["tcp", undefined]);
  const webSocket = resolveOptions({ username: "u", password: "p", transport: "ws", tls: true });
  assert.deepEqual([webSocket.addresses[0]?.port, webSocket.tls], [8092, {}]);
  const quic = { username: "u", password: "p", transport: "quic" as "ws" };
  assert.throws(
    () => resolveOptions(quic),
    (error) => isCodedError(error, ErrorCode.FeatureUnavailable),
  );
  assert.equal(options.requestTimeoutMs, 30_000);
  assert.equal(options.reconnect.retries, Number.POSITIVE_INFINITY);
  assert.equal(resolveOptions({ token: "t", reconnect: false }).reconnect.retries, 0);
  const named = (name: RegExp) => (error: unknown) => {
    assert.ok(isCodedError(error, ErrorCode.InvalidArgument));
    assert.match(error.message, name);
    return true;
  };
  const who = { username: "u", password: "p" };
  assert.throws(() => resolveOptions({}), named(/username and password/));
  assert.throws(() => resolveOptions({ ...who, address: [] }), named(/address/));
  assert.throws(
    () => resolveOptions({ ...who, inFlightMax: 65 }),
    named(/inFlightMax is 65; it must be 1\.\.=64/),
  );
  assert.throws(() => resolveOptions({ ...who, requestTimeoutMs: Number.NaN }), named(/requestTimeoutMs/));
  assert.throws(() => resolveOptions({ ...who, reconnect: { jitter: 2 } }), named(/reconnect\.jitter/));
});

test("addresses are read and written as host:port, and loopback forms count as one", () => {
  assert.deepEqual(parseServerAddress("[::1]:99"), { host: "::1", port: 99 });
  assert.equal(formatServerAddress({ host: "::1", port: 99 }), "[::1]:99");
  assert.ok(isSameServer(parseServerAddress("localhost"), parseServerAddress("[::1]:8090")));
  assert.ok(!isSameServer(parseServerAddress("localhost:1"), parseServerAddress("localhost:2")));
  for (const text of ["", ":1", "h:0", "h:99999", "a:b:c", "[::1"]) {
    assert.throws(
      () => parseServerAddress(text),
      (error) => isCodedError(error, ErrorCode.InvalidServerAddress),
    );
  }
});
