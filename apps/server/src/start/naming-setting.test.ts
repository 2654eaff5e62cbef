import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { GrpcUnderTest } from "../testing/grpc-under-test.ts";
import { namingSetting } from "./naming-setting.ts";

test("a port that is taken is refused with the setting and the variable that chose it, for each listener", async () => {
  const other = net.createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as net.AddressInfo;
  for (const name of ["tcp", "websocket", "grpc", "http"]) {
    const variable = `${name.toUpperCase()}_ADDRESS`;
    const settings = { [`${name.toUpperCase()}_ENABLED`]: "true", [variable]: `127.0.0.1:${port}` };
    await assert.rejects(GrpcUnderTest.start(settings), (error) => {
      assert.ok(isCodedError(error, ErrorCode.CannotBindToSocket), String(error));
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${port} .*EADDRINUSE`));
      assert.match(error.message, new RegExp(`${name}\\.address \\(MILLRACE_${variable}\\)`));
      return true;
    });
  }
  other.close();
});

test("any other error passes as it is", async () => {
  const error = new Error("another");
  await assert.rejects(namingSetting("tcp", Promise.reject(error)), error);
});
