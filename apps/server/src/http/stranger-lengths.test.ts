import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { test } from "node:test";
import { encodeRequestHeader, HEADER_LENGTH } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import { HttpUnderTest } from "../testing/http-under-test.ts";

/** Scenario E-03. */
const MIB = 1_048_576;
const REFUSED = [0, 1, 255, 64 * MIB, 64 * MIB + 1, 2 ** 31, 2 ** 32 - 1];
/** Allowed to a stranger: 256 is a whole message, of 257 one byte is owed. */
const ALLOWED = [256, 257];
const LENGTH_POSITION = 48;

/** A header that announces `length`, without a body. */
function announcing(length: number): Uint8Array {
  const header = new Uint8Array(HEADER_LENGTH);
  encodeRequestHeader(header, { length: HEADER_LENGTH, client: 1n, operation: Operation.CreateStream });
  new DataView(header.buffer).setUint32(LENGTH_POSITION, length, true);
  return header;
}

async function stranger(port: number, length: number): Promise<{ socket: Socket; received: () => number }> {
  const socket = net.connect(port, "127.0.0.1");
  let received = 0;
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    received += bytes.length;
  });
  await once(socket, "connect");
  socket.write(announcing(length));
  return { socket, received: () => received };
}

test("A stranger's length is judged by the header alone: refused without an answer, and nothing is taken for it.", async () => {
  const server = await HttpUnderTest.start();
  const free = server.pool.blocksFree;
  for (const length of REFUSED) {
    const { socket, received } = await stranger(server.tcp.port, length);
    if (!socket.closed) await once(socket, "close");
    assert.equal(received(), 0, `${length} is answered`);
    assert.equal(server.pool.blocksFree, free, `${length} takes memory`);
  }
  const held = await Promise.all(ALLOWED.map((length) => stranger(server.tcp.port, length)));
  await server.login();
  assert.ok(server.pool.blocksFree >= free - 1, "what is allowed shares one block");
  for (const { socket } of held) socket.destroy();
  await server.stop();
});
