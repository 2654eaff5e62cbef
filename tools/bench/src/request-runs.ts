/**
 * Copies of one request side by side, so that a run of them leaves in one write: what a client of many small
 * requests pays is then no part of what its server is measured by.
 */
export class RequestRuns {
  readonly #bytes: Buffer;
  readonly #length: number;
  readonly #copies: number;
  readonly #renew: ((bytes: Buffer, position: number) => void) | undefined;
  #at = 0;

  /**
   * @param copies  at least twice as many as may be in flight: what was taken may still be on its way
   * @param renew   makes a request new before it is taken again, gives it a number for example
   */
  constructor(request: Buffer, copies: number, renew?: (bytes: Buffer, position: number) => void) {
    this.#length = request.length;
    this.#copies = copies;
    this.#renew = renew;
    this.#bytes = Buffer.alloc(request.length * copies, request);
  }

  /** Hands `write` the next `count` requests, in one piece or two. */
  take(count: number, write: (bytes: Buffer) => void): void {
    for (let left = count; left > 0; ) {
      const taken = Math.min(left, this.#copies - this.#at);
      const start = this.#at * this.#length;
      const end = start + taken * this.#length;
      if (this.#renew !== undefined)
        for (let at = start; at < end; at += this.#length) this.#renew(this.#bytes, at);
      write(this.#bytes.subarray(start, end));
      this.#at = (this.#at + taken) % this.#copies;
      left -= taken;
    }
  }
}
