import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk } from "@millrace/platform/sim";
import { TestServer } from "../testing/test-server.ts";

const isFull = (error: unknown) => isCodedError(error, ErrorCode.DiskFull);

test("A first start on a full disk is refused with the reason, and works once there is space.", async () => {
  const disk = new SimDisk();
  disk.setSpace(0);
  await assert.rejects(TestServer.start({ disk }), isFull);
  disk.setSpace(2 ** 30);
  const server = await TestServer.start({ disk });
  assert.equal((await (await server.login()).command("GetStreams")).code, 0);
  await server.stop();
});
