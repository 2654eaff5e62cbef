import { LatestRequests } from "./latest-requests.ts";
import type { ClientsRequest, RememberedRequest } from "./remembered-request.ts";

/** Clients whose requests a partition remembers unless it is told otherwise; the reference's number. */
export const REQUEST_CLIENTS_DEFAULT = 4096;
/**
 * Requests remembered in all: 512 clients with all of theirs. In a checkpoint that is 4.5 MB, so it fits
 * beside the offsets.
 */
const REQUESTS_MAX = 65_536;

/** A client id is a u128, a user a u32. */
const USER_BITS = 32n;

interface ClientRequests {
  readonly client: bigint;
  readonly user: number;
  readonly latest: LatestRequests;
}

/**
 * The last committed requests of a partition's clients, so that one that comes again is known.
 *
 * Of a client the latest 128 are kept. When there are too many clients, or requests in all, the client that
 * was silent longest is forgotten first. The same requests noted in the same order give the same memory.
 * @see docs/adr/0027
 */
export class RequestMemory {
  readonly #clientsMax: number;
  /** The client that was silent longest comes first. */
  readonly #clients = new Map<bigint, ClientRequests>();
  /** Who was noted last: the next request is most often his too. */
  #latest: ClientRequests | undefined;
  #count = 0;

  /** @param clientsMax  0 remembers nothing */
  constructor(clientsMax: number = REQUEST_CLIENTS_DEFAULT) {
    this.#clientsMax = clientsMax;
  }

  /** Requests remembered now. */
  get count(): number {
    return this.#count;
  }

  /** The request a client sent under a number, while it is remembered. */
  find(client: bigint, user: number, number: bigint): RememberedRequest | undefined {
    const latest = this.#latest;
    const isHis = latest?.client === client && latest.user === user;
    const requests = isHis ? latest : this.#clients.get(keyOf(client, user));
    return requests?.latest.find(number);
  }

  /** Remembers a request that was committed. */
  note({ client, user, request }: ClientsRequest): void {
    const { latest } = this.#moveToEnd(client, user);
    const before = latest.count;
    latest.note(request);
    this.#count += latest.count - before;
    while (this.#clients.size > this.#clientsMax || this.#count > REQUESTS_MAX) this.#forgetOldest();
  }

  /** Everything, so that noting it in this order gives the same memory. */
  *all(): Iterable<ClientsRequest> {
    for (const { client, user, latest } of this.#clients.values()) {
      for (const request of latest.all()) yield { client, user, request };
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.#clients.clear();
    this.#latest = undefined;
    this.#count = 0;
  }

  /** A client's requests, made the last to be forgotten. */
  #moveToEnd(client: bigint, user: number): ClientRequests {
    const latest = this.#latest;
    if (latest?.client === client && latest.user === user) return latest;
    const key = keyOf(client, user);
    const requests = this.#clients.get(key) ?? { client, user, latest: new LatestRequests() };
    this.#clients.delete(key);
    this.#clients.set(key, requests);
    this.#latest = requests;
    return requests;
  }

  #forgetOldest(): void {
    for (const [key, oldest] of this.#clients) {
      this.#clients.delete(key);
      this.#count -= oldest.latest.count;
      if (oldest === this.#latest) this.#latest = undefined;
      return;
    }
  }
}

function keyOf(client: bigint, user: number): bigint {
  return (client << USER_BITS) | BigInt(user);
}
