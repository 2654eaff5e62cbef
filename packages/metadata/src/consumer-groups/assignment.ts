import { assert } from "@millrace/errors";
import { type GroupMember, isBeingRevoked, type PendingRevocation } from "./consumer-group.ts";

/** What a join decides from; all of it stands in the op or in the catalog. */
export interface JoinFacts {
  /** Partitions of the topic, ascending. */
  readonly partitionIds: readonly number[];
  /** Partitions polled beyond what was committed. */
  readonly inFlight: ReadonlySet<number>;
  /** Timestamp of the op, microseconds. */
  readonly createdAt: number;
}

/** A member while its partitions change hands. */
interface Share {
  readonly slot: number;
  readonly client: bigint;
  readonly partitions: number[];
  readonly revocations: PendingRevocation[];
}

/**
 * Deals all partitions out anew: partition i goes to member i modulo the number of members. Whatever was
 * being revoked is forgotten.
 */
export function dealAnew(
  members: readonly GroupMember[],
  partitionIds: readonly number[],
): readonly GroupMember[] {
  const count = members.length;
  return members.map((member, turn) => ({
    ...member,
    partitions: partitionIds.filter((_, index) => index % count === turn),
    revocations: [],
  }));
}

/** Lowest slot that no member has. */
export function lowestFreeSlot(members: readonly GroupMember[]): number {
  let slot = 0;
  for (const member of members) {
    if (member.slot !== slot) break;
    slot += 1;
  }
  return slot;
}

/**
 * Gives newcomers their share and moves as little as possible.
 *
 * Partitions nobody owns go round robin to members that own nothing. Then each member may keep the fair
 * share, and the first ones that need it one more while there is a remainder; what is above comes from the
 * end of the member's list and goes round robin to members that own nothing and wait for nothing. What is in
 * flight stays with its owner as a pending revocation, everything else moves at once.
 * @see server-semantics section 10, wire-protocol section 12.1
 */
export function shareOnJoin(members: readonly GroupMember[], facts: JoinFacts): readonly GroupMember[] {
  const shares = members.map((member) => ({
    ...member,
    partitions: [...member.partitions],
    revocations: [...member.revocations],
  }));
  dealUnassigned(shares, facts.partitionIds);
  const receivers = shares.filter((share) => share.partitions.length === 0 && !isWaiting(shares, share));
  if (receivers.length === 0) return shares;
  const excess = excessOf(shares, facts.partitionIds.length);
  for (const [index, { from, partitionId }] of excess.entries()) {
    const to = receivers[index % receivers.length] as Share;
    if (!facts.inFlight.has(partitionId)) move(partitionId, from, to);
    else from.revocations.push({ partitionId, target: to.slot, createdAt: facts.createdAt });
  }
  return shares;
}

/**
 * Hands a partition that was being revoked to the member that waits for it. Nothing when no such revocation
 * is pending: it was completed or overtaken.
 */
export function completeRevocation(
  members: readonly GroupMember[],
  { source, ...revocation }: PendingRevocation & { readonly source: number },
): readonly GroupMember[] | undefined {
  const { partitionId, target, createdAt } = revocation;
  const isIt = (one: PendingRevocation) =>
    one.partitionId === partitionId && one.target === target && one.createdAt === createdAt;
  const from = members.find((member) => member.slot === source);
  if (from?.revocations.some(isIt) !== true) return undefined;
  return members.map((member) => {
    if (member === from) {
      return {
        ...member,
        partitions: member.partitions.filter((id) => id !== partitionId),
        revocations: member.revocations.filter((one) => !isIt(one)),
      };
    }
    return member.slot === target ? { ...member, partitions: [...member.partitions, partitionId] } : member;
  });
}

function dealUnassigned(shares: readonly Share[], partitionIds: readonly number[]): void {
  const owned = new Set(shares.flatMap(({ partitions }) => partitions));
  const idle = shares.filter(({ partitions }) => partitions.length === 0);
  if (idle.length === 0) return;
  const unassigned = partitionIds.filter((id) => !owned.has(id));
  for (const [index, id] of unassigned.entries()) idle[index % idle.length]?.partitions.push(id);
}

/** What members hold above their share, in slot order, each from the end of its list. */
function excessOf(
  shares: readonly Share[],
  partitionsCount: number,
): { readonly from: Share; readonly partitionId: number }[] {
  const fair = Math.floor(partitionsCount / shares.length);
  let remainder = partitionsCount % shares.length;
  return shares.flatMap((from) => {
    const staying = from.partitions.filter((id) => !isBeingRevoked(from, id));
    const hasOneMore = staying.length > fair && remainder > 0;
    if (hasOneMore) remainder -= 1;
    return staying.slice(fair + (hasOneMore ? 1 : 0)).map((partitionId) => ({ from, partitionId }));
  });
}

function isWaiting(shares: readonly Share[], { slot }: Share): boolean {
  return shares.some(({ revocations }) => revocations.some(({ target }) => target === slot));
}

function move(partitionId: number, from: Share, to: Share): void {
  const index = from.partitions.indexOf(partitionId);
  assert(index >= 0, "a partition moves away from its owner");
  from.partitions.splice(index, 1);
  to.partitions.push(partitionId);
}
