import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteWriter } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import type { Partition } from "@millrace/storage";
import type { PartitionGroup } from "../../partition-plane/partition-group.ts";
import type { PartitionOp } from "../../partition-plane/partition-op.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import type { ConsumerKey } from "./consumer-target.ts";

/** What a store of a consumer's offset needs to know. */
export interface OffsetStore {
  readonly shard: Shard;
  readonly request: ClientRequest;
  readonly session: Session;
  readonly group: PartitionGroup;
  readonly partition: Partition;
  readonly consumer: ConsumerKey;
}

/**
 * Refuses a new consumer when the partition remembers as many as it may. @throws CodedError
 * TooManyConsumerOffsets
 */
export function checkOffsetRoom(shard: Shard, partition: Partition, { kind, id }: ConsumerKey): void {
  if (partition.mayStoreConsumerOffset(kind, id)) return;
  const limit = shard.config.consumerOffsetsMax;
  throw new CodedError(
    ErrorCode.TooManyConsumerOffsets,
    `The partition remembers ${limit} consumers at most.`,
    {
      details: { limit },
    },
  );
}

/**
 * Refuses to store while a purge is under way, behind which the offset would stand for other messages.
 * @throws CodedError TransientNotAccepted
 */
export function checkNoPurge(group: PartitionGroup): void {
  if (group.isPurging) throw new CodedError(ErrorCode.TransientNotAccepted, "The partition is being purged.");
}

/**
 * Submits the store of a consumer's offset. A group's may end a hand-over.
 *
 * Fails with 3024 when other new consumers, on their way at the same time, took the room that was there when
 * it was asked for: then nothing was stored.
 */
function submitStoreOffset(
  store: OffsetStore,
  offset: number,
  outcome: Pick<PartitionOp, "committed" | "failed">,
): void {
  store.group.submit(storeOffsetOp(store, offset, outcome));
}

/** The operation that `submitStoreOffset` submits. */
export function storeOffsetOp(
  store: OffsetStore,
  offset: number | bigint,
  outcome: Pick<PartitionOp, "committed" | "failed" | "isNumbered">,
): PartitionOp {
  const { kind, id, place } = store.consumer;
  return {
    operation: Operation.StoreConsumerOffset,
    client: store.session.client,
    request: store.request.number,
    user: store.session.user,
    isNumbered: outcome.isNumbered === true,
    body: new ByteWriter(STORE_LENGTH).u8(kind).u32(id).u64(offset).finish(),
    committed(result) {
      const isStored = result.isRepeated || store.partition.consumerOffset(kind, id) !== undefined;
      if (isStored) outcome.committed(result);
      else outcome.failed(ErrorCode.TooManyConsumerOffsets);
      if (place !== undefined) store.shard.groups.settled(place, store.group.identity.partitionId);
    },
    failed: (code) => outcome.failed(code),
  };
}

/** Kind, id, offset: the body as storage keeps it. */
const STORE_LENGTH = 1 + 4 + 8;

/** Ids of consumers and of groups are u32 each. */
const KEYS_PER_KIND = 2 ** 32;

/**
 * Stores an offset for a poll with auto-commit: only forwards, and without an op when there is nothing to
 * move.
 *
 * Polls of several connections may store for one consumer at the same time, so what is on its way counts as
 * stored.
 */
export function storeOffsetForward(
  store: OffsetStore,
  offset: number,
  outcome: { stored(): void; failed(code: number): void },
): void {
  const { kind, id } = store.consumer;
  const { offsetsUnderWay } = store.group;
  const key = kind * KEYS_PER_KIND + id;
  const stored = store.partition.consumerOffset(kind, id) ?? -1;
  if (Math.max(stored, offsetsUnderWay.get(key) ?? -1) >= offset) {
    outcome.stored();
    return;
  }
  offsetsUnderWay.set(key, offset);
  const end = () => {
    if (offsetsUnderWay.get(key) === offset) offsetsUnderWay.delete(key);
  };
  submitStoreOffset(store, offset, {
    committed() {
      end();
      outcome.stored();
    },
    failed(code) {
      end();
      outcome.failed(code);
    },
  });
}
