import type { ClientConnection } from "./client-connection.ts";

/** Connection numbers are u32 on the wire; after the last one counting starts again at 1. */
const NUMBER_MAX = 0xffff_ffff;

/** Every open connection, by its number and by the client id that is logged in on it. */
export class ConnectionRegistry {
  readonly #byNumber = new Map<number, ClientConnection>();
  readonly #byClient = new Map<bigint, ClientConnection>();
  #lastNumber = 0;
  #whenEmpty: (() => void)[] = [];

  get count(): number {
    return this.#byNumber.size;
  }

  /** A number that no open connection has. */
  nextNumber(): number {
    do {
      this.#lastNumber = this.#lastNumber === NUMBER_MAX ? 1 : this.#lastNumber + 1;
    } while (this.#byNumber.has(this.#lastNumber));
    return this.#lastNumber;
  }

  add(connection: ClientConnection): void {
    this.#byNumber.set(connection.number, connection);
  }

  remove(connection: ClientConnection): void {
    this.#byNumber.delete(connection.number);
    this.unbind(connection);
    this.#tellEmpty();
  }

  /** Settles when no connection is open. */
  empty(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
      this.#tellEmpty();
    });
  }

  find(number: number): ClientConnection | undefined {
    return this.#byNumber.get(number);
  }

  /** All connections by ascending number. */
  list(): ClientConnection[] {
    return [...this.#byNumber.values()].sort((one, other) => one.number - other.number);
  }

  /** True while somebody is logged in under a client id. */
  isLoggedIn(client: bigint): boolean {
    return this.#byClient.has(client);
  }

  /** True while a connection polls for the session of a client that is logged in elsewhere. */
  isAttached(client: bigint): boolean {
    for (const { session } of this.#byNumber.values()) {
      if (session?.attachedTo?.client === client) return true;
    }
    return false;
  }

  /** Notes that the connection's session is the newest of its client id, and fences the one before. */
  bind(connection: ClientConnection): void {
    const { session } = connection;
    if (session === undefined) return;
    const before = this.#byClient.get(session.client);
    if (before?.session !== undefined && before !== connection) before.session.isFenced = true;
    this.#byClient.set(session.client, connection);
  }

  /** Notes that the connection's session is over. */
  unbind(connection: ClientConnection): void {
    const client = connection.session?.client;
    if (client !== undefined && this.#byClient.get(client) === connection) this.#byClient.delete(client);
  }

  #tellEmpty(): void {
    if (this.#byNumber.size > 0) return;
    for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }
}
