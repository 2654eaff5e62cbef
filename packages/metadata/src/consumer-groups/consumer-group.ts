/**
 * A partition on its way from the member that owns it to another: the owner may finish and commit what it has
 * polled, and polls no more of it.
 */
export interface PendingRevocation {
  readonly partitionId: number;
  /** Slot of the member that gets it. */
  readonly target: number;
  /** Microseconds since the epoch: timestamp of the op that decided it. */
  readonly createdAt: number;
}

/** One member: a client session. */
export interface GroupMember {
  /** Lowest number free when it joined; replies show it as the member's id. */
  readonly slot: number;
  /** Client id, u128. */
  readonly client: bigint;
  /** Owned partitions in the order in which they came, those being revoked included. */
  readonly partitions: readonly number[];
  readonly revocations: readonly PendingRevocation[];
}

/** One consumer group of a topic. A later op replaces the object, so look it up again rather than keep it. */
export interface ConsumerGroup {
  /** Counted up per topic from 0, never used again. */
  readonly id: number;
  readonly name: string;
  /** Grows with every change of who owns what. */
  readonly generation: number;
  /** By ascending slot. */
  readonly members: readonly GroupMember[];
}

/** Where a group is. */
export interface GroupPlace {
  readonly streamId: number;
  readonly topicId: number;
  readonly groupId: number;
}

/** The member a client is, if it is one. */
export function memberOf(group: ConsumerGroup, client: bigint): GroupMember | undefined {
  return group.members.find((member) => member.client === client);
}

/** The member that owns a partition, the one it is being taken from while that lasts. */
export function ownerOf(group: ConsumerGroup, partitionId: number): GroupMember | undefined {
  return group.members.find((member) => member.partitions.includes(partitionId));
}

/** Partitions a member may poll now: what it owns and nobody waits for. */
export function pollablePartitions(member: GroupMember): readonly number[] {
  if (member.revocations.length === 0) return member.partitions;
  return member.partitions.filter((partitionId) => !isBeingRevoked(member, partitionId));
}

/** True while the member may only finish and commit what it has of the partition. */
export function isBeingRevoked(member: GroupMember, partitionId: number): boolean {
  return member.revocations.some((revocation) => revocation.partitionId === partitionId);
}
