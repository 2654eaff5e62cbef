import fc from "fast-check";
import * as any from "./arbitraries.compliance.ts";
import { record } from "./arbitraries.compliance.ts";
import type { ClusterGroups, GetClusterGroups } from "./cluster/get-cluster-groups.ts";
import { GroupStatusCode } from "./cluster/group-standing.ts";
import { RepairedOffsetsCode, RepairOutcomeCode } from "./partitions/repair-partition.ts";
import { DamageKindCode } from "./partitions/verify-partition.ts";
import { TransportCode } from "./system/client-record.ts";

/** One of the names of a table of bytes. */
export function keysOf<Name extends string>(names: Readonly<Record<Name, number>>): fc.Arbitrary<Name> {
  return fc.constantFrom(...(Object.keys(names) as Name[]));
}

/** A few of them. */
export function list<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(arbitrary, { maxLength: 4 });
}

/** One of them or undefined. */
export function optional<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined });
}

/** Generators of the records that replies share and of the targets that requests share. */
export const streamTarget = record({ stream: any.identifier });
export const topicTarget = record({ stream: any.identifier, topic: any.identifier });
export const groupTarget = record({ stream: any.identifier, topic: any.identifier, group: any.identifier });
export const userTarget = record({ user: any.identifier });
export const partitionsChange = record({
  stream: any.identifier,
  topic: any.identifier,
  partitionsCount: any.u32,
});

const partitionRecord = record({
  id: any.u32,
  createdAt: any.counter,
  segmentsCount: any.u32,
  currentOffset: any.counter,
  byteLength: any.counter,
  messagesCount: any.counter,
});
export const topicRecord = record({
  id: any.u32,
  createdAt: any.counter,
  partitionsCount: any.u32,
  messageExpiry: any.u64,
  compression: fc.constantFrom(1 as const, 2 as const),
  maxTopicSize: any.u64,
  byteLength: any.counter,
  messagesCount: any.counter,
  name: any.name,
  explicitOptions: any.options,
  derivedOptions: any.options,
});
export const topicDetails = fc
  .tuple(topicRecord, list(partitionRecord))
  .map(([topic, partitions]) => ({ ...topic, partitionsCount: partitions.length, partitions }));
export const retentionPage = record({
  stream: any.identifier,
  topic: any.identifier,
  firstPartitionId: any.u32,
  partitionsCount: any.u32,
});
const retentionSum = record({ segmentsCount: any.u32, messagesCount: any.counter, byteLength: any.counter });
const retentionHolder = record({
  kind: fc.constantFrom(1 as const, 2 as const),
  id: any.u32,
  name: fc.oneof(fc.constant(""), any.name),
  isOwned: fc.boolean(),
  offset: any.counter,
  segmentsCount: any.u32,
  dueSegmentsCount: any.u32,
});
const partitionRetention = record({
  partitionId: any.u32,
  faultCode: any.u32,
  firstOffset: any.counter,
  sealed: retentionSum,
  expired: retentionSum,
  overSize: retentionSum,
  removable: retentionSum,
  heldBack: retentionSum,
  holdersCount: any.u32,
  holders: list(retentionHolder),
});
export const topicRetention = record({
  isCleanerEnabled: fc.boolean(),
  cleanerIntervalMicros: any.counter,
  partitionBudget: any.u64,
  isBudgetRaised: fc.boolean(),
  partitions: list(partitionRetention),
});
export const streamRecord = record({
  id: any.u32,
  createdAt: any.counter,
  topicsCount: any.u32,
  byteLength: any.counter,
  messagesCount: any.counter,
  name: any.name,
  options: any.options,
});
export const streamDetails = fc
  .tuple(streamRecord, list(topicRecord))
  .map(([stream, topics]) => ({ ...stream, topicsCount: topics.length, topics }));
export const status = fc.constantFrom("active" as const, "inactive" as const);
export const userRecord = record({
  id: any.u32,
  createdAt: any.counter,
  status,
  username: any.name,
  options: any.options,
});
export const userDetails = fc
  .tuple(userRecord, optional(any.permissions))
  .map(([user, permissions]) => ({ ...user, permissions }));
export const clientRecord = record({
  clientId: any.u32,
  userId: optional(fc.nat({ max: 0xffff_fffe })),
  transport: keysOf(TransportCode),
  address: any.text,
  groupsCount: any.u32,
});
const membership = record({ streamId: any.u32, topicId: any.u32, groupId: any.u32 });
export const clientDetails = fc
  .tuple(clientRecord, list(membership))
  .map(([client, groups]) => ({ ...client, groupsCount: groups.length, groups }));
export const groupRecord = record({
  id: any.u32,
  partitionsCount: any.u32,
  membersCount: any.u32,
  name: any.name,
});
export const groupDetails = fc
  .tuple(groupRecord, list(record({ id: any.u32, partitions: list(any.u32) })))
  .map(([group, members]) => ({ ...group, membersCount: members.length, members }));

/** A repair. */
export const repairRequest = record({
  stream: any.identifier,
  topic: any.identifier,
  partitionId: any.u32,
  offsets: keysOf(RepairedOffsetsCode),
});

/** What it did. */
export const repairReply = record({
  outcome: keysOf(RepairOutcomeCode),
  offsets: keysOf(RepairedOffsetsCode),
  nextOffset: any.counter,
  damage: any.text,
});

const verifyPlace = record({ segment: any.counter, opsPosition: any.counter, logPosition: any.counter });

/** A step of a verification. */
export const verifyStep = record({
  stream: any.identifier,
  topic: any.identifier,
  partitionId: any.u32,
  from: verifyPlace,
  lengthMax: any.u32,
});

/** What it finds. */
export const verifyStepReply = record({
  bytes: any.counter,
  batches: any.counter,
  messages: any.counter,
  next: optional(verifyPlace),
  fault: any.text,
  damages: list(
    record({
      kind: keysOf(DamageKindCode),
      path: any.text,
      position: any.counter,
      offset: optional(any.counter),
    }),
  ),
});

const partitionKey = record({ streamId: any.u32, topicId: any.u32, partitionId: any.u32 });
const groupStanding = record({
  status: keysOf(GroupStatusCode),
  view: any.u32,
  op: any.counter,
  commit: any.counter,
});

/** A page of groups that is asked for. */
export const clusterGroupsAsked: fc.Arbitrary<GetClusterGroups> = fc.oneof(
  record({
    after: optional(partitionKey),
    countMax: any.u32,
    stream: fc.constant(undefined),
    topic: fc.constant(undefined),
  }),
  record({
    after: optional(partitionKey),
    countMax: any.u32,
    stream: any.identifier,
    topic: optional(any.identifier),
  }),
);

/** Where the nodes of a cluster stand: as many standings for each partition as there are nodes. */
export const clusterGroups: fc.Arbitrary<ClusterGroups> = fc.integer({ min: 1, max: 7 }).chain((count) => {
  const standings = fc.array(optional(groupStanding), { minLength: count, maxLength: count });
  const node = record({ replica: fc.integer({ min: 0, max: 254 }), metadata: optional(groupStanding) });
  return record({
    nodes: fc.array(node, { minLength: count, maxLength: count }),
    partitions: list(fc.tuple(partitionKey, standings).map(([key, each]) => ({ ...key, standings: each }))),
    next: optional(partitionKey),
  });
});
