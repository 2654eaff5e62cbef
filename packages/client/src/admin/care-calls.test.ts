import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  decodeFlushUnsavedBuffer,
  decodeVerifyPartition,
  encodeVerifyPartitionReply,
  type VerifyPlace,
} from "@millrace/protocol";
import { FakeServer } from "../testing/fake-server.test.ts";

const NO_BYTES = new Uint8Array();

test("a snapshot is asked for with compression and types, and its bytes come as they are", async () => {
  const server = new FakeServer();
  const zip = Uint8Array.from({ length: 100_000 }, (_, index) => index % 251);
  server.script = (request) => {
    if (request.command !== "GetSnapshot") return false;
    request.succeed(zip);
    return true;
  };
  const client = await server.connect();
  const snapshot = await client.getSnapshot({ compression: "zstd", types: ["processList", "all"] });
  assert.deepEqual(snapshot, zip);
  // compression zstd, two types: process list and all; wire protocol, section 7.1
  assert.deepEqual([...(server.received("GetSnapshot")[0]?.body ?? NO_BYTES)], [4, 2, 2, 100]);
  await client.close();
});

test("a verification goes on where the answer says, and tells damage and faults", async () => {
  const server = new FakeServer();
  const next: VerifyPlace = { segment: 7, opsPosition: 128, logPosition: 2 ** 40 };
  const damages = [{ kind: "record", path: "streams/0/x.ops", position: 5, offset: undefined } as const];
  server.script = (request) => {
    if (request.command !== "VerifyPartition") return false;
    const { from } = decodeVerifyPartition(request.body);
    const counts = { bytes: 1, batches: 2, messages: 3 };
    const isFirst = from.logPosition === 0;
    request.succeed(
      encodeVerifyPartitionReply({ ...counts, next: isFirst ? next : undefined, fault: "f", damages }),
    );
    return true;
  };
  const client = await server.connect();
  const place = { stream: "s", topic: 1, partitionId: 3 };
  const first = await client.verifyPartition(place);
  assert.deepEqual(first, { bytes: 1, batches: 2, messages: 3, next, fault: "f", damages });
  assert.equal((await client.verifyPartition({ ...place, from: next, lengthMax: 9 })).next, undefined);
  const [, second] = server.received("VerifyPartition");
  const asked = decodeVerifyPartition(second?.body ?? NO_BYTES);
  assert.deepEqual([asked.partitionId, asked.from, asked.lengthMax], [3, next, 9]);
  await client.close();
});

test("a flush carries its place, and the refusal of the server is an error", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command !== "FlushUnsavedBuffer") return false;
    request.deny(ErrorCode.FeatureUnavailable);
    return true;
  };
  const client = await server.connect();
  await assert.rejects(
    client.flushUnsavedBuffer({ stream: "s", topic: "t", partitionId: 2, fsync: true }),
    (error) => isCodedError(error, ErrorCode.FeatureUnavailable),
  );
  const asked = decodeFlushUnsavedBuffer(server.received("FlushUnsavedBuffer")[0]?.body ?? NO_BYTES);
  assert.deepEqual([asked.partitionId, asked.fsync], [2, true]);
  await client.close();
});
