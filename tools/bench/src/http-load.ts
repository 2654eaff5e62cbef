import net from "node:net";

const HEAD_END = "\r\n\r\n";

/** One keep-alive connection that sends the same prebuilt request again as soon as its answer is whole. */
export class HttpLoadConnection {
  readonly #socket: net.Socket;
  #received = "";
  #onAnswer: (head: string, body: string) => void = () => {};
  #onClosed: (error: Error) => void = () => {};

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#take(text));
    socket.on("close", () => this.#onClosed(new Error("The server closed the connection before an answer.")));
  }

  static open(port: number): Promise<HttpLoadConnection> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new HttpLoadConnection(socket)));
    });
  }

  /** One request and the body of its answer, whose status must be 2xx. */
  call(request: Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#onClosed = reject;
      this.#onAnswer = (head, body) =>
        /^HTTP\/1\.1 2/.test(head) ? resolve(body) : reject(new Error(`${head.split("\r\n")[0]} ${body}`));
      this.#socket.write(request);
    });
  }

  /** `count` requests, one after another. */
  async pump(count: number, request: Buffer): Promise<void> {
    for (let sent = 0; sent < count; sent++) await this.call(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const end = headEnd + HEAD_END.length + length;
    if (this.#received.length < end) return;
    const body = this.#received.slice(headEnd + HEAD_END.length, end);
    this.#received = this.#received.slice(end);
    this.#onAnswer(head, body);
  }
}

/** A whole POST with a JSON body. */
export function postRequest(path: string, body: object, token = ""): Buffer {
  const text = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "content-type: application/json",
    `authorization: Bearer ${token}`,
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}${HEAD_END}${text}`);
}
