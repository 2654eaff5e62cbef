import { encodeEvictionHeader } from "@millrace/framing";
import type { ExpectedReply } from "../replies/reply-queue.ts";

/** What a notice needs of its connection. */
interface HeaderSource {
  takeHeader(): Uint8Array;
  giveHeader(header: Uint8Array): void;
}

/** An eviction that no request asked for, in its place behind the replies that are due. */
export class EvictionNotice implements ExpectedReply {
  readonly parts: readonly Uint8Array[];
  readonly isLast = true;
  readonly #source: HeaderSource;
  readonly #header: Uint8Array;

  constructor(source: HeaderSource, eviction: { readonly reason: number; readonly client: bigint }) {
    this.#source = source;
    this.#header = source.takeHeader();
    encodeEvictionHeader(this.#header, {
      ...eviction,
      serverProtocolVersion: 0,
      serverProtocolVersionMin: 0,
    });
    this.parts = [this.#header];
  }

  onWritten(): void {
    this.#source.giveHeader(this.#header);
  }
}
