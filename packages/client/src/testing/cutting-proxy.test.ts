import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { test } from "node:test";

/** Stands between client and server, passes bytes on, and cuts what is connected at any moment. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  cuts = 0;

  /** @param target  `host:port` of the server, asked for at each connection */
  constructor(target: () => string) {
    this.#server = createServer((near) => this.#join(near, target()));
  }

  /** Listens and answers with its `host:port`. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const { port } = this.#server.address() as { port: number };
    return `127.0.0.1:${port}`;
  }

  /** Cuts every connection at once, also in the middle of a message. */
  cut(): void {
    if (this.#sockets.size > 0) this.cuts += 1;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets.clear();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(near: Socket, target: string): void {
    const [host = "", port = ""] = target.split(":");
    const far = connect(Number(port), host);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on("error", () => undefined);
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}

test("a cutting proxy passes bytes on until it cuts", async () => {
  const echo = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(echo, "listening");
  const proxy = new CuttingProxy(() => `127.0.0.1:${(echo.address() as { port: number }).port}`);
  const socket = connect(Number((await proxy.start()).split(":")[1]), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("there and back");
  const [text] = (await once(socket, "data")) as [Buffer];
  assert.equal(text.toString(), "there and back");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  proxy.cut();
  await closed;
  assert.equal(proxy.cuts, 1);
  await proxy.close();
  echo.close();
});
