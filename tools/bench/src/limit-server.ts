// The limits Millrace is measured against: the least work a Node server can do for the same bytes on the
// wire.
// sink: reads requests into one buffer, counts bytes, answers 256 bytes each, replies of one read in one
// write.
// echo: answers 256 bytes a request, one write each.
// source: answers each request with a header and the same prepared reply in one vectored write.
import net from "node:net";

const mode = process.env["LIMIT_MODE"];
const requestLength = Number(process.env["LIMIT_REQUEST_LENGTH"]);
const replyLength = Number(process.env["LIMIT_REPLY_LENGTH"]);
const REPLIES_AT_ONCE = 64;

/** A reply header that says how long it is and nothing else. */
function header(length: number): Buffer {
  const bytes = Buffer.alloc(256);
  bytes.writeUInt32LE(length, 48);
  bytes[60] = 8;
  return bytes;
}

const small = header(256);
const smalls = Buffer.concat(Array.from({ length: REPLIES_AT_ONCE }, () => small));
const large = header(replyLength);
const prepared = Buffer.alloc(Math.max(0, replyLength - 256), 1);

function answer(socket: net.Socket, requests: number): void {
  if (mode === "sink") {
    for (let left = requests; left > 0; left -= REPLIES_AT_ONCE) {
      socket.write(smalls.subarray(0, Math.min(left, REPLIES_AT_ONCE) * 256));
    }
    return;
  }
  for (let at = 0; at < requests; at++) {
    if (mode === "echo") socket.write(small);
    else {
      socket.cork();
      socket.write(large);
      socket.write(prepared);
      socket.uncork();
    }
  }
}

/** Accepted sockets take `onread` only when they are built anew around their handle. */
function withOnread(accepted: net.Socket): void {
  const inner = accepted as unknown as { _handle: unknown };
  const handle = inner._handle;
  inner._handle = null;
  let pending = 0;
  const options = {
    handle,
    onread: {
      buffer: Buffer.alloc(1 << 20),
      callback: (length: number) => {
        pending += length;
        const requests = Math.floor(pending / requestLength);
        pending -= requests * requestLength;
        if (requests > 0) answer(socket, requests);
        return true;
      },
    },
  };
  const socket = new net.Socket(options as unknown as net.SocketConstructorOpts);
  socket.on("error", () => {});
  socket.resume();
}

const server = net.createServer({ pauseOnConnect: true, noDelay: true }, withOnread);
server.listen(0, "127.0.0.1", () => console.log(`listening ${(server.address() as net.AddressInfo).port}`));
process.on("SIGTERM", () => process.exit(0));
