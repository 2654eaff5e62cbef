import { encodeEvictionHeader, HEADER_LENGTH } from "@millrace/framing";
import type { ExpectedReply } from "../replies/reply-queue.ts";

/** An eviction that no request asked for, in its place behind the replies that are due. */
export class EvictionNotice implements ExpectedReply {
  readonly parts: readonly Uint8Array[];
  readonly isLast = true;

  constructor(eviction: { readonly reason: number; readonly client: bigint }) {
    const header = new Uint8Array(HEADER_LENGTH);
    encodeEvictionHeader(header, { ...eviction, serverProtocolVersion: 0, serverProtocolVersionMin: 0 });
    this.parts = [header];
  }

  onWritten(): void {}
}
