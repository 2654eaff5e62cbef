import { connect, createServer, type Server, type Socket } from "node:net";

/** Where a reply's header has its length as u32, and how much of it must be there to read that. */
const LENGTH_AT = 48;
const LENGTH_END = LENGTH_AT + 4;

/** How long replies wait for others that they are to be joined with. */
const JOIN_WAIT_MS = 20;

/** What a proxy does with each reply on its way to the client. */
export interface ReplyShape {
  /** The pieces that one reply is written in, one turn of the event loop each; by default one. */
  readonly piecesOf?: (reply: Buffer) => Iterable<Buffer>;
  /** How many replies are written at once; by default one. Those that came wait 20 ms at most. */
  readonly joined?: number;
}

/** One byte in a piece. */
export function* byteByByte(reply: Buffer): Iterable<Buffer> {
  for (let at = 0; at < reply.length; at += 1) yield reply.subarray(at, at + 1);
}

/** Two pieces, the first of `length` bytes. */
export function splitAt(length: number): (reply: Buffer) => Iterable<Buffer> {
  return (reply) => [reply.subarray(0, length), reply.subarray(length)].filter((piece) => piece.length > 0);
}

/**
 * A TCP proxy on a loopback port that hands requests on as they come and replies in another shape.
 *
 * A network may deliver the bytes of a reply in any pieces; this one does it on purpose, reply by reply
 * (a 256-byte header that begins with its length at 48, then a body). Replies are up to 64 MiB.
 */
export class ReplyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How many replies were handed on so far, and in how many writes. */
  readonly counts = { replies: 0, writes: 0 };

  private constructor(target: string, shape: ReplyShape) {
    const [host, port] = target.split(":");
    this.#server = createServer((client) => {
      const upstream = connect({ host: host ?? "", port: Number(port) });
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket.setNoDelay(true));
        socket.on("error", () => socket.destroy());
        socket.on("close", () => {
          client.destroy();
          upstream.destroy();
        });
      }
      client.pipe(upstream);
      new Replies(upstream, client, shape, this.counts).start();
    });
  }

  /** Listens for clients of the server at `target`, `host:port`. */
  static async start(target: string, shape: ReplyShape): Promise<ReplyProxy> {
    const proxy = new ReplyProxy(target, shape);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** `host:port` of this proxy. */
  get address(): string {
    const bound = this.#server.address();
    return typeof bound === "object" && bound !== null ? `127.0.0.1:${bound.port}` : "";
  }

  /** Ends every connection and the listener. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The replies of one connection, from the server to the client. */
class Replies {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #shape: ReplyShape;
  readonly #counts: ReplyProxy["counts"];
  #chunks: Buffer[] = [];
  #gathered = 0;
  #held: Buffer[] = [];
  #writing = Promise.resolve();

  constructor(from: Socket, to: Socket, shape: ReplyShape, counts: ReplyProxy["counts"]) {
    this.#from = from;
    this.#to = to;
    this.#shape = shape;
    this.#counts = counts;
  }

  start(): void {
    this.#from.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#gathered += chunk.length;
      for (let reply = this.#takeReply(); reply !== undefined; reply = this.#takeReply()) this.#hold(reply);
    });
  }

  /** The next complete reply. Chunks are put together only once enough of them came. */
  #takeReply(): Buffer | undefined {
    if (this.#gathered < LENGTH_END) return undefined;
    if ((this.#chunks[0] as Buffer).length < LENGTH_END) this.#chunks = [Buffer.concat(this.#chunks)];
    const length = (this.#chunks[0] as Buffer).readUInt32LE(LENGTH_AT);
    if (this.#gathered < length) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    this.#chunks = [bytes.subarray(length)];
    this.#gathered -= length;
    return bytes.subarray(0, length);
  }

  #hold(reply: Buffer): void {
    this.#counts.replies += 1;
    this.#held.push(reply);
    if (this.#held.length >= (this.#shape.joined ?? 1)) this.#letGo();
    else if (this.#held.length === 1) setTimeout(() => this.#letGo(), JOIN_WAIT_MS);
  }

  #letGo(): void {
    if (this.#held.length === 0) return;
    const bytes = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    this.#held = [];
    this.#writing = this.#writing.then(() => this.#write(bytes));
  }

  async #write(bytes: Buffer): Promise<void> {
    for (const piece of this.#shape.piecesOf?.(bytes) ?? [bytes]) {
      if (this.#to.destroyed) return;
      this.#counts.writes += 1;
      this.#to.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
