import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { codeAt, encodeReplyHeader, HEADER_LENGTH, operationAt } from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import { createMemoryTransport } from "@millrace/transports/memory";
import { ConnectionPinger } from "./pinger.ts";

function pingerOf(serve: (connection: Connection, request: Uint8Array) => void) {
  const transport = createMemoryTransport();
  transport.listen((connection) => {
    connection.onMessage = (messageLease) => serve(connection, messageLease.bytes.slice());
  });
  return new ConnectionPinger(transport.connect(), "memory");
}

function replyTo(request: Uint8Array, status: number): Uint8Array {
  const reply = new Uint8Array(HEADER_LENGTH);
  encodeReplyHeader(reply, request, { bodyLength: 0, status });
  return reply;
}

test("a ping is one request of the direct kind, answered before it resolves", async () => {
  const seen: number[][] = [];
  const pinger = pingerOf((connection, request) => {
    const view = new DataView(request.buffer);
    seen.push([operationAt(view, 0), codeAt(view, 0)]);
    connection.send([replyTo(request, 0)]);
  });
  await pinger.ping();
  await pinger.ping();
  await pinger.close();
  assert.deepEqual(seen, [
    [2, 1],
    [2, 1],
  ]);
});

test("a refused ping and a lost connection are coded errors", async () => {
  const refused = pingerOf((connection, request) =>
    connection.send([replyTo(request, ErrorCode.ShuttingDown)]),
  );
  await assert.rejects(refused.ping(), (error) => isCodedError(error, ErrorCode.ShuttingDown));
  const lost = pingerOf((connection) => connection.close());
  await assert.rejects(lost.ping(), (error) => isCodedError(error, ErrorCode.Disconnected));
  await assert.rejects(lost.ping(), (error) => isCodedError(error, ErrorCode.Disconnected));
});
