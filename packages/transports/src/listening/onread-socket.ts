import net, { type OnReadOpts, Socket } from "node:net";

/** How long the self-test may take; on a loopback it takes a few milliseconds. */
const SELF_TEST_TIMEOUT_MS = 2000;

/** What the self-test sends: more than one buffer takes, so that the change of buffers is seen. */
const PROBE = Uint8Array.from({ length: 48 }, (_, index) => index + 1);

/** The parts of an accepted socket that Node has but does not promise. */
interface AcceptedSocket {
  _handle: unknown;
}

/**
 * Makes of a socket that a server accepted (with `pauseOnConnect`) one that reads straight into given
 * buffers.
 *
 * `net.Server` cannot be told to do so; but its handle can be given to a new socket. That rests on one
 * private field of Node, therefore `onreadWorks` tries it out before anybody relies on it.
 */
export function rebuildWithOnread(accepted: Socket, onread: OnReadOpts): Socket {
  const owner = accepted as unknown as AcceptedSocket;
  const handle = owner._handle;
  owner._handle = null;
  accepted.on("error", () => {});
  accepted.destroy(); // Without its handle it closes nothing; it only tells the server that it is gone.
  return new Socket({ handle, onread } as unknown as net.SocketConstructorOpts);
}

let tested: Promise<boolean> | undefined;

/**
 * Whether reading into given buffers works here; tried once per process on a loopback pair. Windows is left
 * out: there a read may still be under way when its buffer has gone back to the pool.
 */
export function onreadWorks(): Promise<boolean> {
  tested ??= process.platform === "win32" ? Promise.resolve(false) : selfTest();
  return tested;
}

/**
 * Sends the probe through a rebuilt socket with two small buffers in turn, pauses once, echoes, and closes.
 */
function selfTest(): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer({ pauseOnConnect: true });
    const client = new Socket();
    const settle = (works: boolean) => {
      clearTimeout(timer);
      client.destroy();
      server.close();
      resolve(works);
    };
    const timer = setTimeout(() => settle(false), SELF_TEST_TIMEOUT_MS);
    server.on("connection", (accepted) => probeSocket(accepted, settle));
    for (const one of [server, client]) one.on("error", () => settle(false));
    client.on("data", () => client.end());
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      client.connect(port, "127.0.0.1", () => client.write(PROBE));
    });
  });
}

/** The server's side of the self-test; `settle` hears whether every byte lay where it should. */
function probeSocket(accepted: Socket, settle: (works: boolean) => void): void {
  const memory = new Uint8Array(64);
  let filled = 0;
  let inPlace = true;
  const socket: Socket = rebuildWithOnread(accepted, {
    buffer: () => memory.subarray(filled, filled + 32),
    callback: (length, buffer) => {
      inPlace &&= buffer.byteOffset === filled && buffer.buffer === memory.buffer;
      filled += length;
      socket.pause();
      setImmediate(() => socket.resume());
      if (filled === PROBE.length) socket.write("k");
      return true;
    },
  });
  socket.on("error", () => settle(false));
  socket.on("end", () => socket.end());
  socket.on("close", () => settle(inPlace && PROBE.every((byte, index) => memory[index] === byte)));
}
