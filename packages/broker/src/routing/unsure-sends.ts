import type { Topic } from "@millrace/metadata";
import { type PartitionIdentity, REQUESTS_PER_CLIENT_MAX } from "@millrace/storage";

/** Where a send went: of a topic the partition. */
type SendPlace = Pick<PartitionIdentity, "streamId" | "topicId" | "partitionId">;

/**
 * Sends of one session whose client was told that nobody knows what became of them, and to which partition
 * they went: it sends them again on its connection, and where the partition is the server's to choose the
 * turn has moved on. What was sent first may have been stored, or may be yet.
 * @see docs/adr/0068
 */
export class UnsureSends {
  /** By number, the latest at the end. A client that repeats keeps its numbers nearer together. */
  readonly #places = new Map<bigint, SendPlace>();

  /** Nobody knows what became of a send. */
  note(number: bigint, place: SendPlace): void {
    this.#places.delete(number);
    this.#places.set(number, place);
    if (this.#places.size <= REQUESTS_PER_CLIENT_MAX) return;
    const [oldest] = this.#places.keys();
    if (oldest !== undefined) this.#places.delete(oldest);
  }

  /** It was sent again and is stored. */
  settled(number: bigint): void {
    this.#places.delete(number);
  }

  /** The partition that a send went to before; nothing when it is not unsure, or went to another topic. */
  partitionOf(number: bigint, topic: Topic): number | undefined {
    const place = this.#places.get(number);
    const isSame = place?.topicId === topic.id && place.streamId === topic.streamId;
    return isSame ? place?.partitionId : undefined;
  }
}
