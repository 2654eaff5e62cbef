import { ErrorCode, isCodedError } from "@millrace/errors";
import { ByteWriter } from "@millrace/framing";
import type { Clock } from "@millrace/platform";
import { StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { type ShownPartition, shownOf, shownPartition } from "../partition-plane/shown-partition.ts";
import { cutOffset, dueSegments, type RetentionFacts, releasedSegments, sumOf } from "./retention-plan.ts";
import {
  NOTHING_REMOVED,
  type RetentionLook,
  type Truncation,
  type TruncationOrder,
  type TruncationOutcome,
} from "./truncation.ts";

/** What retention looks at, after every accepted op. @throws CodedError PartitionDamaged */
export function retentionFacts(partition: ShownPartition): RetentionFacts {
  return { sealed: partition.sealedSegments(), offsets: partition.acceptedConsumerOffsets() };
}

/**
 * Segments one op of a policy removes at most, so that arrears do not fill the disk's queue; the next
 * follows.
 */
export const SEGMENTS_PER_OP_MAX = 16;

/** What retention looks at now, see `PartitionHandle.lookAtRetention`. */
export function lookAtRetention(
  group: PartitionGroup,
  options: { readonly forCleaning: boolean },
): RetentionLook {
  const { fault } = group;
  const partition = shownOf(group);
  // Nobody may be writing any more: the next look finds it writable when there is space.
  if (fault !== undefined && options.forCleaning) group.lookForSpace();
  // Until it is open a partition takes no writes either.
  const closedCode = partition === undefined ? ErrorCode.TransientNotAccepted : 0;
  const isKnown = partition !== undefined && partition.offsetsFault === undefined;
  return {
    faultCode: fault?.code ?? closedCode,
    firstOffset: partition?.firstOffset ?? 0,
    facts: isKnown ? retentionFacts(partition) : undefined,
  };
}

/**
 * Removes the oldest sealed segments of a partition by one op, as many as the order asks for and stored
 * offsets let go; none is an outcome too. What was removed is told once its files are gone: there is room
 * then.
 *
 * The decision is made when the op gets its place in the log, so an offset that is stored before it is
 * respected, and it travels in the op, so every replica and every replay removes the same. A purge under way
 * takes these segments too, and behind it their offsets would stand for new messages: nothing is cut then.
 *
 * An order by count is remembered by its decision, as a client's request is by its number: one that comes
 * again, because nobody knew how the first try ended, cuts nothing more.
 */
export function truncatePartition(
  group: PartitionGroup,
  order: TruncationOrder,
  outcome: TruncationOutcome,
  clock: Clock,
): void {
  const decideNow = () => decide(retentionFacts(shownPartition(group)), order, clock.wallMicros());
  try {
    if (decideNow().segmentsCount === 0) {
      outcome.removed(NOTHING_REMOVED);
      return;
    }
  } catch (error) {
    if (!isCodedError(error)) throw error;
    outcome.failed(error.code);
    return;
  }
  let truncation = NOTHING_REMOVED;
  group.submit({
    operation: StorageOperation.truncate,
    client: SERVER_CLIENT,
    ...numberOf(order),
    user: 0,
    body: () => {
      if (!group.purges.isUnderWay) truncation = decideNow();
      return new ByteWriter(8).u64(truncation.firstOffset).finish();
    },
    committed() {
      void (group.partition?.filesRemoved() ?? Promise.resolve()).then(() => outcome.removed(truncation));
    },
    failed: (code) => outcome.failed(code),
  });
}

function numberOf(order: TruncationOrder): { readonly request: bigint; readonly isNumbered: boolean } {
  if (order.kind === "policy") return { request: 0n, isNumbered: false };
  return { request: BigInt(order.decidedAt), isNumbered: true };
}

function decide(facts: RetentionFacts, order: TruncationOrder, nowMicros: number): Truncation {
  const count = Math.min(wanted(facts, order, nowMicros), releasedSegments(facts));
  return { ...sumOf(facts.sealed, 0, count), firstOffset: cutOffset(facts.sealed, count) };
}

function wanted({ sealed }: RetentionFacts, order: TruncationOrder, nowMicros: number): number {
  if (order.kind === "count") return Math.min(order.segmentsCount, sealed.length);
  const { expired, overSize } = dueSegments(sealed, order.policy, nowMicros);
  return Math.min(Math.max(expired, overSize), SEGMENTS_PER_OP_MAX);
}
