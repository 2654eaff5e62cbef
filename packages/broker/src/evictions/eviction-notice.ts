import { encodeEvictionHeader } from "@millrace/framing";
import type { ExpectedReply } from "../replies/reply-queue.ts";
import type { ReplySlot } from "../replies/reply-slots.ts";

/** What a notice needs of its connection. */
interface SlotSource {
  takeSlot(): ReplySlot;
  giveSlot(slot: ReplySlot): void;
}

/** An eviction that no request asked for, in its place behind the replies that are due. */
export class EvictionNotice implements ExpectedReply {
  readonly parts: readonly Uint8Array[];
  readonly isLast = true;
  readonly #source: SlotSource;
  readonly #slot: ReplySlot;

  constructor(source: SlotSource, eviction: { readonly reason: number; readonly client: bigint }) {
    this.#source = source;
    this.#slot = source.takeSlot();
    encodeEvictionHeader(this.#slot.header, {
      ...eviction,
      serverProtocolVersion: 0,
      serverProtocolVersionMin: 0,
    });
    this.parts = [this.#slot.header];
  }

  onWritten(): void {
    this.#source.giveSlot(this.#slot);
  }
}
