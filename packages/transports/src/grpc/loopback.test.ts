import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { HeapLeases } from "@millrace/framing";
import { connectGrpc } from "./client/index.ts";
import { isLoopback } from "./loopback.ts";
import { checkPrivacy } from "./server/call-credentials.ts";

test("this machine is known by every way its address is written, and nothing else is taken for it", () => {
  for (const own of ["localhost", "127.0.0.1", "127.3.2.1:80", "::1", "[::1]:80", "[::ffff:127.0.0.1]:9"]) {
    assert.ok(isLoopback(own), own);
  }
  for (const other of ["10.0.0.1:80", "128.0.0.1", "[::2]:1", "localhost.example.org", "1127.0.0.1", ""]) {
    assert.ok(!isLoopback(other), other);
  }
});

test("credentials in clear are taken from this machine only, and a client sends them nowhere else", async () => {
  checkPrivacy("127.0.0.1:4711");
  assert.throws(
    () => checkPrivacy("192.0.2.7:4711"),
    (error) => isCodedError(error, ErrorCode.Unauthenticated) && /grpc\.tls/.test(error.message),
  );
  const options = { port: 1, leases: new HeapLeases(), messageLengthMax: 1024, timeoutMs: 1000 };
  const attempt = connectGrpc({ ...options, host: "192.0.2.7", authorization: "Bearer x" });
  await assert.rejects(attempt, (error) => isCodedError(error, ErrorCode.InvalidConfiguration));
});
