import { HEADER_LENGTH, type Lease } from "@millrace/framing";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import type { Session } from "../sessions/session.ts";

/** Longest metadata that is remembered: ids or short names. Longer ones are decoded every time. */
const METADATA_LENGTH_MAX = 128;
const COUNT_LENGTH = 4;

/**
 * Where a connection's last send to a stated partition went, so that the next one with the same target is not
 * decoded, looked up and checked for permission again.
 *
 * Good for one session and as long as no metadata op was executed since: whatever could change the answer
 * (names, partitions, permissions, users) is such an op.
 */
export class SendRoute {
  readonly handle: PartitionHandle;
  /** Where the batch begins, counted from the start of the message. */
  readonly batchPosition: number;
  readonly #metadata: Uint8Array;
  readonly #session: Session;
  readonly #commit: number;

  private constructor(
    handle: PartitionHandle,
    metadata: Uint8Array,
    known: { readonly session: Session; readonly commit: number },
  ) {
    this.handle = handle;
    this.batchPosition = HEADER_LENGTH + metadata.length + COUNT_LENGTH;
    this.#metadata = metadata;
    this.#session = known.session;
    this.#commit = known.commit;
  }

  /**
   * The route that `messageLease` took: everything before its messages count is copied. Nothing when that is
   * too long.
   */
  static of(
    messageLease: Lease,
    batchPosition: number,
    to: { readonly handle: PartitionHandle; readonly session: Session; readonly commit: number },
  ): SendRoute | undefined {
    const end = batchPosition - COUNT_LENGTH;
    if (end - HEADER_LENGTH > METADATA_LENGTH_MAX) return undefined;
    return new SendRoute(to.handle, messageLease.bytes.slice(HEADER_LENGTH, end), to);
  }

  /** True when a message takes this route: its metadata is the same up to the messages count. */
  leads(messageLease: Lease, session: Session, commit: number): boolean {
    if (this.#session !== session || this.#commit !== commit) return false;
    if (messageLease.length < this.batchPosition) return false;
    const { home, homePosition } = messageLease;
    const metadata = this.#metadata;
    const start = homePosition + HEADER_LENGTH;
    for (let at = 0; at < metadata.length; at++) {
      if (metadata[at] !== home.bytes[start + at]) return false;
    }
    return true;
  }

  /** The messages count a message that takes this route announces. */
  messagesCountIn({ home, homePosition }: Lease): number {
    return home.view.getUint32(homePosition + this.batchPosition - COUNT_LENGTH, true);
  }
}
