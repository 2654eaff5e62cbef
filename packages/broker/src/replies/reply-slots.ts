import { HEADER_LENGTH } from "@millrace/framing";
import { SEND_CONFIRMATION_REPLY_LENGTH } from "@millrace/protocol";

/** The commonest reply: a header and the confirmation of one batch. */
const SLOT_LENGTH = HEADER_LENGTH + SEND_CONFIRMATION_REPLY_LENGTH;
/** Slots cut from one allocation: 70 KiB a slab. */
const SLOTS_PER_SLAB = 256;
/** Slots kept when idle (1.1 MiB); more than that were needed only by a burst and go back to the runtime. */
const SLOTS_KEPT_MAX = 4096;

/**
 * Room for a reply's header, and for one with a confirmation behind it; the three lie over the same bytes.
 * Written by `writeReplyHeader` alone, which leaves what it never writes.
 */
export interface ReplySlot {
  readonly header: Uint8Array;
  readonly confirmation: Uint8Array;
  readonly view: DataView;
}

/** Room for reply headers, used again after the write that carried them. */
export class ReplySlots {
  readonly #free: ReplySlot[] = [];

  /** A slot with any content; give it back once its write is done. */
  take(): ReplySlot {
    return this.#free.pop() ?? this.#cutSlab();
  }

  give(slot: ReplySlot): void {
    if (this.#free.length < SLOTS_KEPT_MAX) this.#free.push(slot);
  }

  #cutSlab(): ReplySlot {
    const slab = new Uint8Array(SLOTS_PER_SLAB * SLOT_LENGTH);
    for (let index = 1; index < SLOTS_PER_SLAB; index++) this.#free.push(slotAt(slab, index * SLOT_LENGTH));
    return slotAt(slab, 0);
  }
}

function slotAt(slab: Uint8Array, position: number): ReplySlot {
  return {
    header: slab.subarray(position, position + HEADER_LENGTH),
    confirmation: slab.subarray(position, position + SLOT_LENGTH),
    view: new DataView(slab.buffer, position, SLOT_LENGTH),
  };
}
