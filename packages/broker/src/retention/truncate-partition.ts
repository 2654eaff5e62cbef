import { ByteWriter } from "@millrace/framing";
import { type Partition, StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import {
  cutOffset,
  type RetentionFacts,
  releasedSegments,
  type SegmentSum,
  sumOf,
} from "./retention-plan.ts";

/** What went, and the oldest offset that is left. */
export interface Truncation extends SegmentSum {
  readonly firstOffset: number;
}

/** How a truncation ended. */
export interface TruncationOutcome {
  removed(truncation: Truncation): void;
  failed(code: number): void;
}

const NOTHING: Truncation = { segmentsCount: 0, messagesCount: 0, byteLength: 0, firstOffset: 0 };

/** What retention looks at, after every accepted op. @throws CodedError PartitionDamaged */
export function retentionFacts(partition: Partition): RetentionFacts {
  return { sealed: partition.sealedSegments(), offsets: partition.acceptedConsumerOffsets() };
}

/**
 * Removes the oldest sealed segments of a partition by one op, as many as `want` asks for and stored offsets
 * let go; none is an outcome too.
 *
 * The decision is made when the op gets its place in the log, so an offset that is stored before it is
 * respected, and it travels in the op, so every replica and every replay removes the same. A purge under way
 * takes these segments too, and behind it their offsets would stand for new messages: nothing is cut then.
 */
export function truncatePartition(
  group: PartitionGroup,
  want: (facts: RetentionFacts) => number,
  outcome: TruncationOutcome,
): void {
  let truncation = NOTHING;
  group.submit({
    operation: StorageOperation.truncate,
    client: SERVER_CLIENT,
    request: 0n,
    user: 0,
    body: () => {
      if (!group.isPurging) truncation = decide(retentionFacts(group.openPartition), want);
      return new ByteWriter(8).u64(truncation.firstOffset).finish();
    },
    committed: () => outcome.removed(truncation),
    failed: (code) => outcome.failed(code),
  });
}

function decide(facts: RetentionFacts, want: (facts: RetentionFacts) => number): Truncation {
  const count = Math.min(want(facts), releasedSegments(facts));
  return { ...sumOf(facts.sealed, 0, count), firstOffset: cutOffset(facts.sealed, count) };
}
