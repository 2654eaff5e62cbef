import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * How a link is cut: `closed` ends its connections and every new one, `silent` keeps them and lets nothing
 * through, as a network does that drops packets.
 */
export type CutKind = "closed" | "silent";

/** The two ends of one connection through the proxy. */
interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
}

/** The way from one node to the replica port of another: a TCP proxy on loopback that can be cut. */
export class LinkProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #cut: CutKind | undefined;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => this.#accept(client, targetPort));
  }

  /** Listens on a port of its own for a node that dials `targetPort`. */
  static async start(targetPort: number): Promise<LinkProxy> {
    const proxy = new LinkProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** Port to dial. */
  get port(): number {
    const bound = this.#server.address();
    return typeof bound === "object" && bound !== null ? bound.port : 0;
  }

  /** Lets nothing through any more. */
  cut(kind: CutKind): void {
    this.#cut = kind;
    for (const pair of this.#pairs) {
      if (kind === "closed") end(pair);
      else pause(pair);
    }
  }

  /** Lets everything through again, also what waited in a silent link. */
  heal(): void {
    if (this.#cut === undefined) return;
    this.#cut = undefined;
    for (const pair of this.#pairs) join(pair);
  }

  /** Ends every connection and the listener. */
  async close(): Promise<void> {
    for (const pair of this.#pairs) end(pair);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(client: Socket, port: number): void {
    if (this.#cut === "closed") {
      client.destroy();
      return;
    }
    const pair = { client, upstream: connect(port, "127.0.0.1") };
    this.#pairs.add(pair);
    for (const socket of [pair.client, pair.upstream]) {
      socket.setNoDelay(true);
      socket.on("error", () => end(pair));
      socket.on("close", () => {
        this.#pairs.delete(pair);
        end(pair);
      });
    }
    if (this.#cut === undefined) join(pair);
  }
}

function join({ client, upstream }: Pair): void {
  client.pipe(upstream);
  upstream.pipe(client);
}

function pause({ client, upstream }: Pair): void {
  for (const socket of [client, upstream]) {
    socket.unpipe();
    socket.pause();
  }
}

function end({ client, upstream }: Pair): void {
  client.destroy();
  upstream.destroy();
}
