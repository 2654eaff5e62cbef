import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { TestServer } from "../../testing/test-server.ts";
import { createSmallTopic, deleteSegmentsBody, earliestOf, fillSegments } from "../../testing/test-topics.ts";

test("A deletion of segments that was decided on and not done is done by the request that repeats it.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await createSmallTopic(client);
  await fillSegments(client, 3);
  server.platform.disk.setFaults(({ kind, path }) =>
    kind === "write" && path.startsWith("streams/") ? { kind: "error", errno: "EIO" } : undefined,
  );
  const request = client.nextNumber;
  const refused = await client.command("DeleteSegments", deleteSegmentsBody(1));
  assert.equal(refused.code, ErrorCode.FileFenced);
  const disk = server.platform.disk.kill();
  disk.setFaults(() => undefined);
  const next = await TestServer.start({ disk });
  const again = await next.login();
  assert.equal(await earliestOf(again), 0);
  for (const _ of ["done now", "done already"]) {
    assert.equal((await again.command("DeleteSegments", deleteSegmentsBody(1), { request })).code, 0);
    assert.equal(await earliestOf(again), 2);
  }
  again.nextNumber = request + 1n;
  await again.ok("DeleteSegments", deleteSegmentsBody(1));
  assert.equal(await earliestOf(again), 4);
  await next.stop();
});

test("Where partitions remember no requests a repeated deletion of segments deletes nothing more.", async () => {
  const server = await TestServer.start({ config: { requestClientsMax: 0 } });
  const client = await server.login();
  await createSmallTopic(client);
  await fillSegments(client, 3);
  const request = client.nextNumber;
  for (const _ of ["first", "again"]) {
    assert.equal((await client.command("DeleteSegments", deleteSegmentsBody(1), { request })).code, 0);
    assert.equal(await earliestOf(client), 2);
  }
  await server.stop();
});
