import assert from "node:assert/strict";
import type { ReplyFields } from "./output.ts";
import { type Prepare, type Request, SessionOperation } from "./prepare.ts";

const CLIENT = 7n;
const OPERATION = 160;

/**
 * A client that asks for one thing at a time, the same until it is answered, and counts what was executed.
 */
export class PersistentClient {
  /** Requests that were answered. */
  answered = 0;
  #session = 0;
  readonly #executed = new Set<bigint>();

  /** The request it has open, or a Register when it has no session. */
  request(timestamp: number): Request {
    const session = this.#session;
    const request = session === 0 ? 0n : BigInt(this.answered + 1);
    const operation = session === 0 ? SessionOperation.register : OPERATION;
    const body = this.answered + 1;
    return { client: CLIENT, session, request, operation, user: 3, timestamp, body, bodyChecksum: request };
  }

  hears({ operation, request, op }: ReplyFields): void {
    if (operation === SessionOperation.register) this.#session = op;
    else if (request === BigInt(this.answered + 1)) this.answered += 1;
  }

  isEvicted(): void {
    this.#session = 0;
  }

  isExecuted({ operation, request }: Prepare): void {
    if (operation !== OPERATION) return;
    assert.ok(!this.#executed.has(request), "a request is executed once");
    this.#executed.add(request);
    assert.ok(
      this.#executed.has(request) && this.answered <= this.#executed.size,
      "what is answered is executed",
    );
  }
}
