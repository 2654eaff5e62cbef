import assert from "node:assert/strict";
import { type CommandName, nextRequestContext } from "@millrace/protocol";
import type { Answer, TestClient } from "../test-client.ts";
import type { HistoryWorld } from "./history-world.ts";

/** A client that waits longer than this for an answer takes its connection for lost. */
const ANSWER_MAX_MS = 8000;

/** A client that goes from node to node and keeps its id. An answer may be lost: nothing is known then. */
export class HistoryClient {
  readonly id: bigint;
  /** Node of the connection. */
  node = 0;
  readonly #world: HistoryWorld;
  #connection: TestClient | undefined;
  #lastNumber = 0n;
  /** Whether the connection of now comes to be logged in. */
  #isIn = Promise.resolve(false);
  /** The connection that is. */
  #loggedIn: TestClient | undefined;
  /** End the requests that wait for answers, when the connection is lost. */
  readonly #waiting = new Set<() => void>();

  constructor(world: HistoryWorld, id: bigint) {
    this.#world = world;
    this.id = id;
    world.clients.add(this);
  }

  /** The connection it has now. */
  get connection(): TestClient | undefined {
    return this.#connection;
  }

  /** Logs in on a node; false when that does not work now. A client that is there stays as it is. */
  async goTo(at: number): Promise<boolean> {
    if (this.#connection !== undefined && this.node === at) return this.#isIn;
    this.leave();
    const { cluster } = this.#world;
    const { broker } = cluster.nodes[at]!;
    // Before the node knows the user it refuses him, as it should.
    if (broker?.shard.catalog.userByName("iggy") === undefined) return false;
    const connection = cluster.connect(at);
    this.#connection = connection;
    this.node = at;
    this.#isIn = this.#logIn(connection);
    return this.#isIn;
  }

  async #logIn(connection: TestClient): Promise<boolean> {
    // As our client does: what it has not given out by now was on no connection before this one.
    const context = nextRequestContext(Number(this.#lastNumber) + 1);
    const login = connection.login({ client: this.id, sdkName: "millrace-node", context });
    const answer = await this.#answered(connection, login);
    const isIn = answer?.code === 0 && answer.eviction === undefined;
    if (isIn) this.#loggedIn = connection;
    else this.#leave(connection);
    return isIn;
  }

  /** The number of its next operation, which it keeps wherever it is sent again. */
  takeNumber(): bigint {
    this.#lastNumber += 1n;
    return this.#lastNumber;
  }

  /**
   * Sends a command; one that counts has a number. Nothing when the connection was lost, as it is when the
   * answer takes longer than `patienceMs`.
   */
  async ask(
    name: CommandName,
    body: Uint8Array,
    request?: bigint,
    patienceMs = ANSWER_MAX_MS,
  ): Promise<Answer | undefined> {
    const connection = this.#connection;
    // Another request of this client may have taken it to another node meanwhile.
    if (connection === undefined || connection !== this.#loggedIn) return undefined;
    const numbered = request === undefined ? {} : { request };
    const answer = await this.#answered(connection, connection.command(name, body, numbered), patienceMs);
    if (answer?.eviction !== undefined) {
      this.#world.trace(`c${this.id}`, `evicted from ${this.node}: ${answer.eviction.reason}`);
    }
    if (answer === undefined || answer.eviction !== undefined) this.#leave(connection);
    return answer?.eviction === undefined ? answer : undefined;
  }

  /** Ends the connection, if there is one. */
  leave(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    for (const lost of [...this.#waiting]) lost();
    connection?.close();
  }

  #leave(connection: TestClient): void {
    if (this.#connection === connection) this.leave();
  }

  #answered(
    connection: TestClient,
    answer: Promise<Answer>,
    patienceMs = ANSWER_MAX_MS,
  ): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const end = (one?: Answer) => {
        timer.cancel();
        this.#waiting.delete(end);
        resolve(one);
      };
      const timer = this.#world.cluster.clock.setTimer(patienceMs, () => end());
      this.#waiting.add(end);
      answer.then(end, () => end());
      assert.equal(connection, this.#connection, "requests go over the connection of now");
    });
  }
}
