import { Waiters } from "../queues/waiters.ts";
import type { MetadataRequest } from "./metadata-request.ts";

/** What the group has begun and not ended: requests that are prepared here, and what partitions are doing. */
export class UnderWay {
  /** Prepared here and not executed, in op order. */
  readonly #requests = new Set<MetadataRequest>();
  readonly #effects = new Set<Promise<void>>();
  readonly #whenIdle = new Waiters();

  begin(request: MetadataRequest): void {
    this.#requests.add(request);
  }

  /** It is executed, or answered otherwise. Call `tellIdle` once all is done that this brings with it. */
  end(request: MetadataRequest): void {
    this.#requests.delete(request);
  }

  hasRequestOf(client: bigint): boolean {
    for (const request of this.#requests) if (request.client === client) return true;
    return false;
  }

  /** Ends all requests with a code. */
  refuseAll(code: number): void {
    const refused = [...this.#requests];
    this.#requests.clear();
    for (const request of refused) refuse(request, code);
    this.tellIdle();
  }

  /** Calls `executed` when partitions have done their part, or nobody here can tell whether they have. */
  after(effects: Promise<boolean>, executed: (isDone: boolean) => void): void {
    const done = effects.then((isDone) => {
      this.#effects.delete(done);
      executed(isDone);
    });
    this.#effects.add(done);
  }

  /** Settles when nothing is under way. */
  idle(): Promise<void> {
    const idle = this.#whenIdle.settled();
    this.tellIdle();
    return idle;
  }

  tellIdle(): void {
    if (this.#requests.size === 0 && this.#effects.size === 0) this.#whenIdle.tell();
  }
}

/** Answers a request with a code; it was not executed, as far as this replica knows. */
export function refuse(request: MetadataRequest, code: number): void {
  request.answered({ kind: "refused", code });
}
