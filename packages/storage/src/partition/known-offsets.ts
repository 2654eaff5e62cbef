import type { ConsumerOffsets, StoredOffset } from "./consumer-offsets.ts";
import type { PartitionState } from "./partition-state.ts";

/** Committed offsets. @throws CodedError `offsetsFault` while nobody can tell them */
export function knownOffsets({ offsets, offsetsFault }: PartitionState): ConsumerOffsets {
  if (offsetsFault !== undefined) throw offsetsFault;
  return offsets;
}

/** The same of one key after every accepted op, committed or not. @throws CodedError `offsetsFault` */
export function knownAcceptedOffset(state: PartitionState, kind: 1 | 2, id: number): number | undefined {
  knownOffsets(state);
  return state.acceptedOffset(kind, id);
}

/** The same of all keys. @throws CodedError `offsetsFault` */
export function knownAcceptedOffsets(state: PartitionState): readonly StoredOffset[] {
  knownOffsets(state);
  return [...state.offsetsAfter(state.accepted.op).all()];
}

/**
 * True when an offset of this key may be stored behind every accepted op: it is there already, or fewer than
 * `countMax` of its kind are. @throws CodedError `offsetsFault`
 */
export function mayStoreOffset(state: PartitionState, kind: 1 | 2, id: number, countMax: number): boolean {
  if (knownAcceptedOffset(state, kind, id) !== undefined) return true;
  if (state.offsets.count(kind) + state.uncommitted.count < countMax) return true;
  return state.offsetsAfter(state.accepted.op).count(kind) < countMax;
}
