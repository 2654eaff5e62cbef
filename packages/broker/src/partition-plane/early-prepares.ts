import type { PartitionGroup } from "./partition-group.ts";
import type { ReceivedBody } from "./partition-replication.ts";

/** Bytes of prepares that wait on a node, and how many: what finds no room is lost, as on its way. */
const LENGTH_MAX = 8 * 1024 * 1024;
const COUNT_MAX = 128;

/** A group whose files are being opened. */
type Opening = Pick<PartitionGroup, "afterOpen">;

/**
 * Prepares that came while their group was being opened.
 *
 * The primary of a partition that was just made is often open a moment before its backups. What they did not
 * take then it sends again after 250 ms only, and nobody's first send is to wait for that.
 */
export class EarlyPrepares {
  #length = 0;
  #count = 0;

  /** Hands a prepare's body to `deliver` once the group is open, or cannot be opened. */
  keep(group: Opening, received: ReceivedBody, deliver: (body: ReceivedBody) => void): void {
    const { length } = received.bytes;
    if (this.#count >= COUNT_MAX || this.#length + length > LENGTH_MAX) return;
    this.#count += 1;
    this.#length += length;
    // Not where they lie: files may take minutes to be opened, and a block of memory serves many messages.
    const kept = { bytes: received.bytes.slice(), lease: undefined };
    group.afterOpen(() => {
      this.#count -= 1;
      this.#length -= length;
      deliver(kept);
    });
  }
}
