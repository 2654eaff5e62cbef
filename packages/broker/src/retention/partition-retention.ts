import { ownerOf, type Topic } from "@millrace/metadata";
import {
  type PartitionRetention,
  RETENTION_HOLDERS_MAX,
  type RetentionHolder,
  type RetentionSum,
} from "@millrace/protocol";
import type { StoredOffset } from "@millrace/storage";
import { GROUP_KIND } from "../consumer-groups/group-kind.ts";
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
import type { RetentionLook } from "./truncation.ts";

const NONE: RetentionSum = { segmentsCount: 0, messagesCount: 0, byteLength: 0 };

/** What retention would do to a partition now, and who keeps it from that. */
export function partitionRetention(
  shard: Shard,
  topic: Topic,
  partitionId: number,
  look: RetentionLook & { readonly policy: RetentionPolicy },
): PartitionRetention {
  const { faultCode, firstOffset, facts, policy } = look;
  const nothing = { sealed: NONE, expired: NONE, overSize: NONE, removable: NONE, heldBack: NONE };
  const known = { partitionId, faultCode, firstOffset, ...nothing, holdersCount: 0, holders: [] };
  if (facts === undefined) return known;
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
