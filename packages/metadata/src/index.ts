/**
 * The catalog a cluster agrees on: streams, topics, partitions, consumer groups and users, changed by
 * committed ops only.
 *
 * ```ts
 * import { createMetadata, encodeCreateRootUser, MetadataOperation } from "@millrace/metadata";
 *
 * const metadata = createMetadata();
 * const body = encodeCreateRootUser({ name: "iggy", passwordHash: "$scrypt$..." });
 * const op = { op: 1, operation: MetadataOperation.createRootUser, timestamp: 1, client: 0n, user: 0, body };
 * metadata.apply(op); // { code: 0, body: (empty), effects: [{ kind: "user-changed", user: 0 }] }
 * metadata.userByName("iggy"); // { id: 0, ... }
 * ```
 *
 * @packageDocumentation
 */
export { type AdmissionLimits, type AdmittedRequest, admitRequest } from "./admission/admit-request.ts";
export type { NamedSetView } from "./catalog/named-set.ts";
export type { Partition, PartitionIdentity } from "./catalog/partition.ts";
export type { Stream } from "./catalog/stream.ts";
export { isExpired, type Token } from "./catalog/token.ts";
export { findPartition, identityOf, purgeGenerationOf, type Topic } from "./catalog/topic.ts";
export { ROOT_USER_ID, type User, UserStatus } from "./catalog/user.ts";
export type { TokenHolder, TokenName } from "./catalog/user-set.ts";
export type { ApplyResult, CommittedOp } from "./committed-op.ts";
export {
  type ConsumerGroup,
  type GroupMember,
  type GroupPlace,
  isBeingRevoked,
  memberOf,
  ownerOf,
  type PendingRevocation,
  pollablePartitions,
} from "./consumer-groups/consumer-group.ts";
export { EVERY_PARTITION, encodeJoinGroupOp, type JoinGroupOp } from "./consumer-groups/join-group-op.ts";
export {
  type CompleteRevocationOp,
  encodeCompleteRevocationOp,
  encodeRemoveMemberOp,
} from "./consumer-groups/server-ops.ts";
export type { Effect } from "./effect.ts";
export { createMetadata, type Metadata, type MetadataCounts, restoreMetadata } from "./metadata.ts";
export { MetadataOperation } from "./operation.table.ts";
export { type OptionMap, optionEntries } from "./options/option-map.ts";
export {
  type ResolvedTopicOptions,
  type ResolvedTopicUpdate,
  refuseOptions,
  resolveTopicOptions,
  resolveTopicUpdate,
  type TopicBounds,
} from "./options/resolve-topic-options.ts";
export {
  type OptionRow,
  SEGMENT_SIZE_MIN_DEFAULT,
  TOPIC_OPTION_CATALOG,
} from "./options/topic-options.table.ts";
export type { Durability, TopicSettings, TopicSettingsChange } from "./options/topic-settings.ts";
export { type Action, may, type Scope } from "./permissions/may.ts";
export { type CreateTokenOp, encodeCreateTokenOp } from "./tokens/create-token-op.ts";
export { EXPIRED_TOKENS_PER_OP_MAX, encodeDeleteExpiredTokens } from "./tokens/delete-expired-tokens.ts";
export { type CreateTopicOp, encodeCreateTopicOp } from "./topics/create-topic-op.ts";
export {
  type ChangePasswordOp,
  type CheckedPassword,
  encodeChangePasswordOp,
} from "./users/change-password-op.ts";
export { type CreateUserOp, encodeCreateUserOp } from "./users/create-user-op.ts";
export { type CreateRootUser, encodeCreateRootUser } from "./users/root-user-op.ts";
