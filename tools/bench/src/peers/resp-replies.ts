import type { ReplyReader } from "./pipelined-peer.ts";

const CR = 13;
const LF = 10;
const MINUS = 45;
const DOLLAR = 36;

/**
 * Counts the replies of a Redis server: a line each, or for `$LENGTH` a line and that many bytes.
 *
 * Arrays are not read: nothing that is sent here is answered by one.
 */
export class RespReplies implements ReplyReader {
  #line = "";
  /** Bytes of a bulk reply, its line end included, that are still to come. */
  #left = 0;

  take(bytes: Buffer): number {
    let count = 0;
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) count += 1;
        continue;
      }
      const end = bytes.indexOf(LF, at);
      this.#line += bytes.toString("latin1", at, end < 0 ? bytes.length : end + 1);
      if (end < 0) break;
      at = end + 1;
      count += this.#endLine();
    }
    return count;
  }

  /** Replies that a whole line ends. */
  #endLine(): number {
    const line = this.#line;
    this.#line = "";
    const kind = line.charCodeAt(0);
    if (line.charCodeAt(line.length - 2) !== CR) throw new Error(`not a RESP line: ${line}`);
    if (kind === MINUS) throw new Error(`refused: ${line.trim()}`);
    if (kind !== DOLLAR) return 1;
    const length = Number(line.slice(1, -2));
    if (length < 0) return 1;
    this.#left = length + 2;
    return 0;
  }
}

/** A command as Redis reads it: an array of bulk strings. */
export function respCommand(...words: readonly (string | Uint8Array)[]): Buffer {
  const parts = words.map((word) => (typeof word === "string" ? Buffer.from(word) : word));
  const bulks = parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from("\r\n")]);
  return Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...bulks]);
}
