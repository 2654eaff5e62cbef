import { ErrorCode } from "@millrace/errors";
import { ownerOf, type Topic } from "@millrace/metadata";
import {
  type PartitionRetention,
  RETENTION_HOLDERS_MAX,
  type RetentionHolder,
  type RetentionSum,
} from "@millrace/protocol";
import type { StoredOffset } from "@millrace/storage";
import { GROUP_KIND } from "../consumer-groups/group-offsets.ts";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import type { Shard } from "../shard.ts";
import {
  type DueSegments,
  dueSegments,
  holdersOf,
  type RetentionFacts,
  releasedSegments,
  segmentsBelow,
  sumOf,
} from "./retention-plan.ts";
import type { RetentionPolicy } from "./retention-policy.ts";
import { retentionFacts } from "./truncate-partition.ts";

const NONE: RetentionSum = { segmentsCount: 0, messagesCount: 0, byteLength: 0 };

/** What retention would do to a partition now, and who keeps it from that. */
export function partitionRetention(
  shard: Shard,
  topic: Topic,
  group: PartitionGroup,
  policy: RetentionPolicy,
): PartitionRetention {
  const { partition } = group;
  const { partitionId } = group.identity;
  const faultCode = faultCodeOf(group);
  const firstOffset = partition?.firstOffset ?? 0;
  const nothing = { sealed: NONE, expired: NONE, overSize: NONE, removable: NONE, heldBack: NONE };
  const known = { partitionId, faultCode, firstOffset, ...nothing, holdersCount: 0, holders: [] };
  if (partition === undefined || partition.offsetsFault !== undefined) return known;
  const facts = retentionFacts(partition);
  const due = dueSegments(facts.sealed, policy, shard.platform.clock.wallMicros());
  const holders = holdersOf(facts);
  return {
    ...known,
    ...sumsOf(facts, due, faultCode === 0),
    holdersCount: holders.length,
    holders: holders
      .slice(0, RETENTION_HOLDERS_MAX)
      .map((stored) => holderOf({ shard, topic, partitionId, facts, due, stored })),
  };
}

/** Until it is open a partition takes no writes either. */
function faultCodeOf({ fault, partition }: PartitionGroup): number {
  if (fault !== undefined) return fault.code;
  return partition === undefined ? ErrorCode.TransientNotAccepted : 0;
}

function sumsOf(facts: RetentionFacts, { expired, overSize }: DueSegments, isWritable: boolean) {
  const { sealed } = facts;
  const due = Math.max(expired, overSize);
  const released = Math.min(due, releasedSegments(facts));
  return {
    sealed: sumOf(sealed, 0, sealed.length),
    expired: sumOf(sealed, 0, expired),
    overSize: sumOf(sealed, 0, overSize),
    removable: isWritable ? sumOf(sealed, 0, released) : NONE,
    heldBack: sumOf(sealed, released, due),
  };
}

function holderOf(look: {
  readonly shard: Shard;
  readonly topic: Topic;
  readonly partitionId: number;
  readonly facts: RetentionFacts;
  readonly due: DueSegments;
  readonly stored: StoredOffset;
}): RetentionHolder {
  const { shard, topic, partitionId, facts, due, stored } = look;
  const { consumerKind: kind, id, offset } = stored;
  const consumerGroup = kind === GROUP_KIND ? shard.catalog.groupsOf(topic).byId(id) : undefined;
  const passed = segmentsBelow(facts.sealed, offset);
  return {
    kind,
    id,
    offset,
    name: consumerGroup?.name ?? "",
    isOwned: consumerGroup !== undefined && ownerOf(consumerGroup, partitionId) !== undefined,
    segmentsCount: facts.sealed.length - passed,
    dueSegmentsCount: Math.max(0, Math.max(due.expired, due.overSize) - passed),
  };
}
