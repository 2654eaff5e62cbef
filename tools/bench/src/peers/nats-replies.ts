import type { ReplyReader } from "./pipelined-peer.ts";

const LF = 10;

/**
 * Counts the messages that a NATS server delivers: `MSG SUBJECT SID LENGTH` and that many bytes. A `PING` is
 * answered through `pong`; `INFO`, `PONG` and `+OK` are none.
 */
export class NatsReplies implements ReplyReader {
  readonly #pong: () => void;
  #line = "";
  #body = "";
  #left = 0;

  constructor(pong: () => void) {
    this.#pong = pong;
  }

  take(bytes: Buffer): number {
    let count = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#body += bytes.toString("latin1", at, at + taken);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) count += this.#endBody();
        continue;
      }
      const end = bytes.indexOf(LF, at);
      this.#line += bytes.toString("latin1", at, end < 0 ? bytes.length : end + 1);
      if (end < 0) break;
      at = end + 1;
      this.#endLine();
    }
    return count;
  }

  #endLine(): void {
    const line = this.#line.trim();
    this.#line = "";
    if (line.startsWith("MSG ")) this.#left = Number(line.slice(line.lastIndexOf(" ") + 1)) + 2;
    else if (line === "PING") this.#pong();
    else if (line.startsWith("-ERR")) throw new Error(`refused: ${line}`);
  }

  /** JetStream says in the body whether it stored a message. */
  #endBody(): number {
    const body = this.#body;
    this.#body = "";
    if (body.includes('"error"')) throw new Error(`refused: ${body.trim()}`);
    return 1;
  }
}
