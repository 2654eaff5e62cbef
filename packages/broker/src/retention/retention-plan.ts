import type { SealedSegment, StoredOffset } from "@millrace/storage";
import type { RetentionPolicy } from "./retention-policy.ts";

/** What a partition holds that retention looks at, as of one moment. */
export interface RetentionFacts {
  /** Oldest first. */
  readonly sealed: readonly SealedSegment[];
  /** Offsets of all consumers and groups. */
  readonly offsets: readonly StoredOffset[];
}

/** How many of the oldest sealed segments each policy wants to go. The larger number counts. */
export interface DueSegments {
  readonly expired: number;
  readonly overSize: number;
}

/** Segments, messages and bytes of some sealed segments. */
export interface SegmentSum {
  readonly segmentsCount: number;
  readonly messagesCount: number;
  readonly byteLength: number;
}

/**
 * Which of the oldest sealed segments the policy wants to go, whoever still needs them.
 *
 * A segment has expired when its newest message has; the first that has not ends the run. For size the oldest
 * go until the sealed ones that stay fit the budget.
 */
export function dueSegments(
  sealed: readonly SealedSegment[],
  { expiryMicros, sealedLengthMax }: RetentionPolicy,
  nowMicros: number,
): DueSegments {
  let expired = 0;
  if (expiryMicros !== undefined) {
    const first = sealed.findIndex(({ lastTimestamp }) => lastTimestamp + expiryMicros > nowMicros);
    expired = first < 0 ? sealed.length : first;
  }
  let overSize = 0;
  let excess = sealed.reduce((sum, { length }) => sum + length, 0) - (sealedLengthMax ?? Infinity);
  for (; excess > 0; overSize += 1) excess -= sealed[overSize]?.length ?? excess;
  return { expired, overSize };
}

/** How many of the oldest sealed segments the holder of `offset` has done with. */
export function segmentsBelow(sealed: readonly SealedSegment[], offset: number): number {
  const kept = sealed.findIndex(({ lastOffset }) => lastOffset > offset);
  return kept < 0 ? sealed.length : kept;
}

/** How many of the oldest sealed segments nobody needs any more; all of them when nobody stored an offset. */
export function releasedSegments({ sealed, offsets }: RetentionFacts): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const { offset } of offsets) lowest = Math.min(lowest, offset);
  return segmentsBelow(sealed, lowest);
}

/** First offset that stays when the `count` oldest sealed segments go; 0 when none goes. */
export function cutOffset(sealed: readonly SealedSegment[], count: number): number {
  const last = sealed[count - 1];
  return last === undefined ? 0 : last.lastOffset + 1;
}

/** What the sealed segments from `from` to before `to` hold together. */
export function sumOf(sealed: readonly SealedSegment[], from: number, to: number): SegmentSum {
  let [segmentsCount, messagesCount, byteLength] = [0, 0, 0];
  for (const { firstOffset, lastOffset, length } of sealed.slice(from, Math.max(from, to))) {
    segmentsCount += 1;
    messagesCount += lastOffset - firstOffset + 1;
    byteLength += length;
  }
  return { segmentsCount, messagesCount, byteLength };
}

/** Consumers and groups that keep sealed segments, the lowest offset first. */
export function holdersOf({ sealed, offsets }: RetentionFacts): readonly StoredOffset[] {
  const end = sealed.at(-1)?.lastOffset ?? -1;
  return offsets
    .filter(({ offset }) => offset < end)
    .toSorted((a, b) => a.offset - b.offset || a.consumerKind - b.consumerKind || a.id - b.id);
}
