import type { RememberedRequest } from "./remembered-request.ts";

/** Requests remembered of one client: more than a client lets be unanswered at once. */
export const REQUESTS_PER_CLIENT_MAX = 128;

/**
 * The latest committed requests of one client, in the order of their commits, found by their number.
 *
 * Clients count upwards, so a number above all others is known to be new without a look, and the oldest
 * request is the one in the ring's next slot: noting one costs two calls of the map.
 */
export class LatestRequests {
  readonly #byNumber = new Map<bigint, RememberedRequest>();
  /** The same requests, oldest first from `#oldest` on. */
  readonly #ring: RememberedRequest[] = [];
  #oldest = 0;
  #highest = -1n;

  /** Requests remembered. */
  get count(): number {
    return this.#ring.length;
  }

  find(number: bigint): RememberedRequest | undefined {
    return number > this.#highest ? undefined : this.#byNumber.get(number);
  }

  /** Remembers a request as the latest one; the oldest goes when there are too many. */
  note(request: RememberedRequest): void {
    const { number } = request;
    if (number > this.#highest) this.#highest = number;
    else if (this.#byNumber.has(number)) this.#forget(number);
    this.#byNumber.set(number, request);
    if (this.#ring.length < REQUESTS_PER_CLIENT_MAX) {
      this.#ring.push(request);
      return;
    }
    const gone = this.#ring[this.#oldest];
    this.#ring[this.#oldest] = request;
    this.#oldest = (this.#oldest + 1) % REQUESTS_PER_CLIENT_MAX;
    if (gone !== undefined) this.#byNumber.delete(gone.number);
  }

  /** Oldest first. */
  all(): readonly RememberedRequest[] {
    return [...this.#ring.slice(this.#oldest), ...this.#ring.slice(0, this.#oldest)];
  }

  /** Takes a request out of the middle: its number was used again. */
  #forget(number: bigint): void {
    const others = this.all().filter((request) => request.number !== number);
    this.#ring.splice(0, this.#ring.length, ...others);
    this.#oldest = 0;
    this.#byNumber.delete(number);
  }
}
