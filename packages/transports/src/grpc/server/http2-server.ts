import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { Server } from "@grpc/grpc-js";
import { peerText } from "../../listening/addresses.ts";

/** Calls that one HTTP/2 connection may have open; a client needs one for `Exchange`. */
const STREAMS_PER_SOCKET_MAX = 128;

/**
 * Bytes a client may send before it hears that they were taken, on one connection and on each of its calls: a
 * few full batches. With HTTP/2's own 64 KiB a batch of 300 KB costs five round trips and twice the CPU.
 */
const WINDOW_LENGTH = 4_194_304;

/** Sockets beyond one for each call: so many that come too many hear why; the others are closed at once. */
const REFUSED_SOCKETS_MAX = 64;

/** Longest frame of HTTP/2, in bytes: a batch then comes in two, not in twenty. */
const FRAME_LENGTH_MAX = 262_144;

/** The part of the library's server that it has but does not promise. */
interface OwnServers {
  readonly http2Servers?: ReadonlyMap<Http2Server, unknown>;
}

/** What a listener bounds. */
export interface Http2Options {
  /** Calls that may be open. */
  readonly callsMax: number;
  readonly isEncrypted: boolean;
  readonly handshakeMaxMs: number;
}

/**
 * Sets what the library has no options for, on a server that is bound: windows, frames, how many sockets it
 * takes, how long their handshakes may last. That rests on one private field, which tests watch.
 *
 * @returns false when this release of the library has no such field: then its own settings stay
 */
export function setHttp2(server: Server, options: Http2Options): boolean {
  const { http2Servers } = server as unknown as OwnServers;
  if (!(http2Servers instanceof Map)) return false;
  for (const http2 of http2Servers.keys()) {
    http2.maxConnections = options.callsMax + REFUSED_SOCKETS_MAX;
    http2.updateSettings({
      initialWindowSize: WINDOW_LENGTH,
      maxFrameSize: FRAME_LENGTH_MAX,
      maxConcurrentStreams: STREAMS_PER_SOCKET_MAX,
    });
    http2.on("session", (session: ServerHttp2Session) => session.setLocalWindowSize(WINDOW_LENGTH));
    if (options.isEncrypted) closeSlowHandshakes(http2, options.handshakeMaxMs);
  }
  return true;
}

/** A session begins when the handshake is done; a socket without one is cut off. */
function closeSlowHandshakes(http2: Http2Server, handshakeMaxMs: number): void {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const settle = (peer: string) => {
    clearTimeout(timers.get(peer));
    timers.delete(peer);
  };
  http2.on("connection", (socket: Socket) => {
    const peer = peerText(socket);
    const timer = setTimeout(() => socket.destroy(), handshakeMaxMs);
    timer.unref();
    timers.set(peer, timer);
    socket.once("close", () => settle(peer));
  });
  http2.on("session", ({ socket }: ServerHttp2Session) => settle(peerText(socket)));
}
