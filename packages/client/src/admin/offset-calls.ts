import {
  decodeGetConsumerOffsetReply,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodeStoreConsumerOffset,
  type OffsetTarget,
  toIdentifier,
} from "@millrace/protocol";
import { checkedU32, checkedU64 } from "../client-options.ts";
import { nothing } from "../connection/requester.ts";
import type { Name } from "./stream-calls.ts";
import { TopicCalls } from "./topic-calls.ts";

/** Whose offset, and where. */
export interface OffsetPlace {
  readonly stream: Name;
  readonly topic: Name;
  /** Default 0. */
  readonly partitionId?: number;
  /** A consumer of its own, by id or name; or a group by `{ group }`. */
  readonly consumer: Name | { readonly group: Name };
}

/** A stored offset and the highest readable offset of the partition. */
export interface StoredOffset {
  readonly partitionId: number;
  readonly currentOffset: bigint;
  readonly storedOffset: bigint;
}

/** The target of a poll or offset command as the protocol writes it. */
export function offsetTarget(place: OffsetPlace): OffsetTarget {
  const { consumer } = place;
  const isGroup = typeof consumer === "object" && consumer !== null && "group" in consumer;
  return {
    consumer: isGroup
      ? { kind: "group", id: toIdentifier(consumer.group) }
      : { kind: "consumer", id: toIdentifier(consumer) },
    stream: toIdentifier(place.stream),
    topic: toIdentifier(place.topic),
    partitionId: checkedU32("partitionId", place.partitionId ?? 0),
  };
}

/** Calls about the offsets consumers have stored. */
export class OffsetCalls extends TopicCalls {
  /** The stored offset, or undefined when nothing is stored. Throws PartitionNotFound. */
  getConsumerOffset(place: OffsetPlace): Promise<StoredOffset | undefined> {
    return this.request({
      command: "GetConsumerOffset",
      body: () => encodeGetConsumerOffset(offsetTarget(place)),
      decode: (payload) => {
        const record = decodeGetConsumerOffsetReply(payload);
        if (record === undefined) return undefined;
        const { partitionId, currentOffset, storedOffset } = record;
        return { partitionId, currentOffset: BigInt(currentOffset), storedOffset: BigInt(storedOffset) };
      },
    });
  }

  /**
   * Stores the offset of the last message done with; moving back is allowed. Throws InvalidOffset beyond
   * the end.
   */
  storeConsumerOffset(place: OffsetPlace & { readonly offset: bigint }): Promise<void> {
    const body = () => {
      const offset = checkedU64("offset", place.offset);
      return encodeStoreConsumerOffset({ ...offsetTarget(place), offset, ack: "quorum" });
    };
    return this.request({ command: "StoreConsumerOffset", body, decode: nothing });
  }

  /** Forgets a stored offset. Throws ConsumerOffsetNotFound. */
  deleteConsumerOffset(place: OffsetPlace): Promise<void> {
    const body = () => encodeDeleteConsumerOffset({ ...offsetTarget(place), ack: "quorum" });
    return this.request({ command: "DeleteConsumerOffset", body, decode: nothing });
  }
}
