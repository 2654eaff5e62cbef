import type { CommandName } from "@millrace/protocol";
import { RawClient } from "millrace-server/testing/raw-client";

/** A node that is stopped or cut off never answers; a client waits this long and tries another one. */
const ANSWER_MAX_MS = 3000;
/** An SDK whose request numbers tell repetitions. */
const COUNTING_SDK = "millrace-node";

/** What a node answered: code 0 and the payload behind the result section, or a code. */
export interface NodeAnswer {
  readonly code: number;
  readonly payload: Uint8Array;
}

/**
 * One client's connection to one node with one request at a time, so that a request can go to another node
 * under the number it had. Whatever ends it is told, not thrown.
 */
export class NodeConnection {
  readonly #raw: RawClient;
  #isOpen = true;
  #trouble = "";

  private constructor(port: number, client: bigint) {
    this.#raw = new RawClient(port, client);
  }

  /** Connects and logs in as root. It is closed, and says why, when the node cannot take a login now. */
  static async open(port: number, client: bigint): Promise<NodeConnection> {
    const connection = new NodeConnection(port, client);
    const answer = await connection.#inTime("a login", connection.#raw.login("iggy", "iggy", COUNTING_SDK));
    if (answer?.code !== 0) connection.close(`the login was answered with ${answer?.code}`);
    return connection;
  }

  /** What ended it. */
  get trouble(): string {
    return this.#trouble;
  }

  /** False once the connection was lost. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends a request under a number of the client's; nothing when the connection was lost first or no answer
   * came in time. The connection is closed then.
   */
  async command(name: CommandName, body: Uint8Array, number: bigint): Promise<NodeAnswer | undefined> {
    return this.#isOpen ? this.#inTime(name, this.#raw.command(name, body, number)) : undefined;
  }

  close(trouble = "it was closed"): void {
    if (this.#isOpen) this.#trouble = trouble;
    this.#isOpen = false;
    this.#raw.close();
  }

  async #inTime(what: string, asked: ReturnType<RawClient["command"]>): Promise<NodeAnswer | undefined> {
    const timer = setTimeout(() => this.close(`no answer to ${what} in ${ANSWER_MAX_MS} ms`), ANSWER_MAX_MS);
    try {
      const { evictionReason, ...answer } = await asked;
      if (evictionReason === undefined) return answer;
      this.close(`an eviction for ${evictionReason}`);
    } catch (error) {
      this.close(error instanceof Error ? error.message : String(error));
    } finally {
      clearTimeout(timer);
    }
    return undefined;
  }
}
