/**
 * The words of the wire: codes, identifiers, and one codec file per command.
 *
 * ```ts
 * import { decodeCreateTopic, encodeCreateTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
 *
 * const body = encodeCreateTopic({
 *   stream: toIdentifier("orders"),
 *   partitionsCount: 3,
 *   name: "events",
 *   options: NO_OPTIONS,
 * });
 * decodeCreateTopic(body).name; // "events"
 * ```
 *
 * `encodeX` and `decodeX` are the body of request X, `encodeXReply` and `decodeXReply` the payload of its
 * reply. Decoders borrow: byte fields of what they return are views. They throw `WireError`, which
 * `decodeBody` turns into the error a peer is answered with.
 *
 * @packageDocumentation
 */

export { decodeBody, encodeBody, readPresence } from "./body-codec.ts";
export {
  CONSUMER_OFFSETS_DEFAULT,
  CONSUMER_OFFSETS_MAX,
  GROUPS_PER_CLIENT_MAX,
  GROUPS_PER_TOPIC_MAX,
  LOGIN_CONTEXT_LENGTH_MAX,
  MESSAGE_KEY_LENGTH_MAX,
  MESSAGE_KEY_LENGTH_MIN,
  NAME_LENGTH_MAX,
  NAME_LENGTH_MIN,
  OPTIONS_COUNT_MAX,
  OPTIONS_LENGTH_MAX,
  ORIGIN_TIMESTAMP_SPREAD_MAX,
  PARTITIONS_PER_REQUEST_MAX,
  PARTITIONS_PER_TOPIC_MAX,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  PAYLOAD_LENGTH_MAX,
  PAYLOAD_LENGTH_MIN,
  SESSIONS_DEFAULT,
  SESSIONS_MAX,
  STREAMS_MAX,
  TOKEN_LENGTH_MAX,
  TOKEN_NAME_LENGTH_MAX,
  TOKEN_NAME_LENGTH_MIN,
  TOKENS_PER_USER_MAX,
  TOPICS_PER_STREAM_MAX,
  USER_HEADERS_LENGTH_MAX,
  USERNAME_LENGTH_MAX,
  USERNAME_LENGTH_MIN,
  USERS_MAX,
} from "./bounds.ts";
export { CLIENT_VARIABLES, type ClientVariable } from "./client-variables.table.ts";
export {
  CLUSTER_GROUPS_MAX,
  type ClusterGroups,
  type ClusterNodeStanding,
  type ClusterPartitionGroup,
  decodeGetClusterGroups,
  decodeGetClusterGroupsReply,
  encodeGetClusterGroups,
  encodeGetClusterGroupsReply,
  type GetClusterGroups,
} from "./cluster/get-cluster-groups.ts";
export {
  type GroupStanding,
  GroupStatusCode,
  type PartitionKey,
} from "./cluster/group-standing.ts";
export {
  decodeReadWithoutLogin,
  encodeReadWithoutLogin,
  type ReadWithoutLogin,
} from "./cluster/read-without-login.ts";
export { COMMAND_OPERATIONS, CommandCode, type CommandName } from "./command.table.ts";
export {
  COMMANDS,
  type Command,
  commandByCode,
  commandByOperation,
  isLegacyLogin,
} from "./command.ts";
export {
  type Consumer,
  type ConsumerKind,
  consumerKey,
  consumerKindOf,
  readConsumer,
  writeConsumer,
} from "./consumer.ts";
export {
  type CreateConsumerGroup,
  decodeCreateConsumerGroup,
  decodeCreateConsumerGroupReply,
  encodeCreateConsumerGroup,
  encodeCreateConsumerGroupReply,
} from "./consumer-groups/create-consumer-group.ts";
export {
  type DeleteConsumerGroup,
  decodeDeleteConsumerGroup,
  encodeDeleteConsumerGroup,
} from "./consumer-groups/delete-consumer-group.ts";
export {
  decodeGetConsumerGroup,
  decodeGetConsumerGroupReply,
  encodeGetConsumerGroup,
  encodeGetConsumerGroupReply,
  type GetConsumerGroup,
} from "./consumer-groups/get-consumer-group.ts";
export {
  decodeGetConsumerGroups,
  decodeGetConsumerGroupsReply,
  encodeGetConsumerGroups,
  encodeGetConsumerGroupsReply,
  type GetConsumerGroups,
} from "./consumer-groups/get-consumer-groups.ts";
export type { GroupDetails, GroupMember, GroupRecord } from "./consumer-groups/group-record.ts";
export type { GroupTarget } from "./consumer-groups/group-target.ts";
export {
  decodeJoinConsumerGroup,
  encodeJoinConsumerGroup,
  type JoinConsumerGroup,
} from "./consumer-groups/join-consumer-group.ts";
export {
  decodeLeaveConsumerGroup,
  encodeLeaveConsumerGroup,
  type LeaveConsumerGroup,
} from "./consumer-groups/leave-consumer-group.ts";
export {
  decodeSyncConsumerGroup,
  decodeSyncConsumerGroupReply,
  encodeSyncConsumerGroup,
  encodeSyncConsumerGroupReply,
  type GroupAssignment,
  type SyncConsumerGroup,
} from "./consumer-groups/sync-consumer-group.ts";
export type { Ack } from "./consumer-offsets/ack.ts";
export {
  type DeleteConsumerOffset,
  decodeDeleteConsumerOffset,
  encodeDeleteConsumerOffset,
} from "./consumer-offsets/delete-consumer-offset.ts";
export {
  type ConsumerOffset,
  decodeGetConsumerOffset,
  decodeGetConsumerOffsetReply,
  encodeGetConsumerOffset,
  encodeGetConsumerOffsetReply,
  type GetConsumerOffset,
} from "./consumer-offsets/get-consumer-offset.ts";
export type { OffsetTarget } from "./consumer-offsets/offset-target.ts";
export {
  decodeStoreConsumerOffset,
  encodeStoreConsumerOffset,
  type StoreConsumerOffset,
} from "./consumer-offsets/store-consumer-offset.ts";
export { EvictionReason, type EvictionVersions, errorCodeOfEviction } from "./eviction.ts";
export {
  type Identifier,
  identifierText,
  readIdentifier,
  toIdentifier,
  writeIdentifier,
} from "./identifier.ts";
export {
  decodeFlushUnsavedBuffer,
  encodeFlushUnsavedBuffer,
  type FlushUnsavedBuffer,
} from "./messages/flush-unsaved-buffer.ts";
export {
  decodePollMessages,
  decodePollMessagesReply,
  encodePollMessages,
  encodePollReplyHead,
  PARTITION_NOT_OWNED,
  POLL_REPLY_HEAD_LENGTH,
  type PollMessages,
  type PollMessagesReply,
  type PollReplyHead,
} from "./messages/poll-messages.ts";
export {
  decodePollRoutingReply,
  encodePollRoutingReply,
  type PollRouting,
} from "./messages/poll-routing.ts";
export {
  type DecodedSendMetadata,
  decodeSendMessagesReply,
  decodeSendMetadata,
  encodeSendMessagesReply,
  encodeSendMetadata,
  SEND_CONFIRMATION_REPLY_LENGTH,
  type SendConfirmation,
  type SendMetadata,
  writeSendConfirmationReply,
} from "./messages/send-messages.ts";
export { checkName, isName } from "./name.ts";
export { OPERATIONS, Operation, type OperationRow, type Plane } from "./operation.table.ts";
export { hasResultSection, operationByByte } from "./operation.ts";
export {
  NO_OPTIONS,
  type OptionEntries,
  type OptionEntry,
  readOptionsBlock,
  readOptionsToEnd,
  writeOptionsBlock,
  writeOptionsToEnd,
} from "./options.ts";
export type { Partitioning } from "./partitioning.ts";
export { readPartitioning, writePartitioning } from "./partitioning.ts";
export {
  type CreatePartitions,
  decodeCreatePartitions,
  encodeCreatePartitions,
} from "./partitions/create-partitions.ts";
export {
  type DeletePartitions,
  decodeDeletePartitions,
  encodeDeletePartitions,
} from "./partitions/delete-partitions.ts";
export type { PartitionRecord } from "./partitions/partition-record.ts";
export type { PartitionsChange } from "./partitions/partitions-change.ts";
export {
  decodeRepairPartition,
  decodeRepairPartitionReply,
  encodeRepairPartition,
  encodeRepairPartitionReply,
  RepairedOffsetsCode,
  RepairOutcomeCode,
  type RepairPartition,
  type RepairPartitionReply,
} from "./partitions/repair-partition.ts";
export {
  DamageKindCode,
  decodeVerifyPartition,
  decodeVerifyPartitionReply,
  encodeVerifyPartition,
  encodeVerifyPartitionReply,
  type VerifyDamage,
  type VerifyPartition,
  type VerifyPartitionReply,
  type VerifyPlace,
} from "./partitions/verify-partition.ts";
export type { GlobalPermissions, Permissions, StreamPermissions, TopicPermissions } from "./permissions.ts";
export {
  readOptionalPermissions,
  readPermissions,
  readPermissionsBlock,
  writeOptionalPermissions,
  writePermissions,
  writePermissionsBlock,
} from "./permissions.ts";
export type { PollingStrategy } from "./polling-strategy.ts";
export { readPollingStrategy, writePollingStrategy } from "./polling-strategy.ts";
export { COMMITS_MAX, type PartitionCommit } from "./replicas/commits.ts";
export type { FormationMessage } from "./replicas/formation.ts";
export { type ForwardedReplyMessage, ForwardOutcome } from "./replicas/forwarded-reply.ts";
export type { ForwardedRequestMessage } from "./replicas/forwarded-request.ts";
export { PREPARE_RECORDS_MAX, type PrepareRecord } from "./replicas/prepare-record.ts";
export {
  type AddressedMessage,
  decodeReplicaMessage,
  encodeReplicaMessage,
  type ForwardMessage,
  type GroupMessage,
  type ReplicaEnvelope,
  type ReplicaMessage,
  type StateMessage,
} from "./replicas/replica-message.ts";
export type { PartitionStanding } from "./replicas/standings-reply.ts";
export { STANDINGS_MAX } from "./replicas/standings-reply.ts";
export type { PartitionRange } from "./replicas/standings-request.ts";
export { STATE_CHUNK_LENGTH_MAX } from "./replicas/state-chunk.ts";
export { STATE_PARTS_MAX, type StatePart } from "./replicas/state-manifest.ts";
export { VOUCHED_SESSIONS_MAX, type VouchedSession } from "./replicas/vouch.ts";
export {
  decodeResultSection,
  encodeResultRejection,
  encodeResultSuccess,
  RESULT_SUCCESS,
  type Result,
} from "./result-section.ts";
export {
  type DeleteSegments,
  decodeDeleteSegments,
  encodeDeleteSegments,
} from "./segments/delete-segments.ts";
export {
  decodeLoginRegister,
  decodeVersionPrefix,
  encodeLoginRegister,
  type LoginRegister,
} from "./sessions/login-register.ts";
export {
  decodeLoginRegisterWithPat,
  encodeLoginRegisterWithPat,
  type LoginRegisterWithPat,
} from "./sessions/login-register-with-pat.ts";
export { decodeLoginReply, encodeLoginReply, type LoginReply } from "./sessions/login-reply.ts";
export { nextRequestContext, nextRequestOf } from "./sessions/next-request.ts";
export type { VersionPrefix } from "./sessions/version-prefix.ts";
export {
  type CreateStream,
  decodeCreateStream,
  decodeCreateStreamReply,
  encodeCreateStream,
  encodeCreateStreamReply,
} from "./streams/create-stream.ts";
export { type DeleteStream, decodeDeleteStream, encodeDeleteStream } from "./streams/delete-stream.ts";
export {
  decodeGetStream,
  decodeGetStreamReply,
  encodeGetStream,
  encodeGetStreamReply,
  type GetStream,
} from "./streams/get-stream.ts";
export { decodeGetStreamsReply, encodeGetStreamsReply } from "./streams/get-streams.ts";
export { decodePurgeStream, encodePurgeStream, type PurgeStream } from "./streams/purge-stream.ts";
export type { StreamDetails, StreamRecord } from "./streams/stream-record.ts";
export type { StreamTarget } from "./streams/stream-target.ts";
export { decodeUpdateStream, encodeUpdateStream, type UpdateStream } from "./streams/update-stream.ts";
export {
  type ConsumerSession,
  decodeAttachConsumerSession,
  encodeAttachConsumerSession,
} from "./system/attach-consumer-session.ts";
export {
  type ClientDetails,
  type ClientRecord,
  type GroupMembership,
  TransportCode,
  type TransportName,
} from "./system/client-record.ts";
export {
  type DescribeOptions,
  decodeDescribeOptions,
  decodeDescribeOptionsReply,
  encodeDescribeOptions,
  encodeDescribeOptionsReply,
  type OptionDescription,
  type OptionScope,
  OptionScopeCode,
} from "./system/describe-options.ts";
export {
  decodeGetClient,
  decodeGetClientReply,
  encodeGetClient,
  encodeGetClientReply,
  type GetClient,
} from "./system/get-client.ts";
export { decodeGetClientsReply, encodeGetClientsReply } from "./system/get-clients.ts";
export {
  type ClusterMetadata,
  type ClusterNode,
  decodeGetClusterMetadataReply,
  encodeGetClusterMetadataReply,
  NodeRoleCode,
  NodeStatusCode,
} from "./system/get-cluster-metadata.ts";
export { decodeGetMeReply, encodeGetMeReply } from "./system/get-me.ts";
export {
  decodeGetSnapshot,
  encodeGetSnapshot,
  type GetSnapshot,
  SnapshotCompressionCode,
  type SnapshotType,
  SnapshotTypeCode,
} from "./system/get-snapshot.ts";
export {
  type CacheMetrics,
  decodeGetStatsReply,
  encodeGetStatsReply,
  type Stats,
} from "./system/get-stats.ts";
export { parseByteSize } from "./text-forms/byte-size.ts";
export { parseDuration } from "./text-forms/duration.ts";
export {
  type CreatePersonalAccessToken,
  decodeCreatePersonalAccessToken,
  decodeCreatePersonalAccessTokenReply,
  encodeCreatePersonalAccessToken,
  encodeCreatePersonalAccessTokenReply,
} from "./tokens/create-personal-access-token.ts";
export {
  type DeletePersonalAccessToken,
  decodeDeletePersonalAccessToken,
  encodeDeletePersonalAccessToken,
} from "./tokens/delete-personal-access-token.ts";
export {
  decodeGetPersonalAccessTokensReply,
  encodeGetPersonalAccessTokensReply,
  type TokenRecord,
} from "./tokens/get-personal-access-tokens.ts";
export { type Compression, CompressionCode } from "./topics/compression.ts";
export {
  type CreateTopic,
  decodeCreateTopic,
  decodeCreateTopicReply,
  encodeCreateTopic,
  encodeCreateTopicReply,
} from "./topics/create-topic.ts";
export { type DeleteTopic, decodeDeleteTopic, encodeDeleteTopic } from "./topics/delete-topic.ts";
export {
  decodeGetTopic,
  decodeGetTopicReply,
  encodeGetTopic,
  encodeGetTopicReply,
  type GetTopic,
} from "./topics/get-topic.ts";
export {
  decodeGetTopicRetention,
  decodeGetTopicRetentionReply,
  encodeGetTopicRetention,
  encodeGetTopicRetentionReply,
  type GetTopicRetention,
  type PartitionRetention,
  RETENTION_HOLDERS_MAX,
  RETENTION_PARTITIONS_MAX,
  type RetentionHolder,
  type RetentionSum,
  type TopicRetention,
} from "./topics/get-topic-retention.ts";
export {
  decodeGetTopics,
  decodeGetTopicsReply,
  encodeGetTopics,
  encodeGetTopicsReply,
  type GetTopics,
} from "./topics/get-topics.ts";
export { decodePurgeTopic, encodePurgeTopic, type PurgeTopic } from "./topics/purge-topic.ts";
export { type TopicDetails, type TopicRecord, U64_MAX } from "./topics/topic-record.ts";
export type { TopicTarget } from "./topics/topic-target.ts";
export { decodeUpdateTopic, encodeUpdateTopic, type UpdateTopic } from "./topics/update-topic.ts";
export { type ChangePassword, decodeChangePassword, encodeChangePassword } from "./users/change-password.ts";
export {
  type CreateUser,
  decodeCreateUser,
  decodeCreateUserReply,
  encodeCreateUser,
  encodeCreateUserReply,
} from "./users/create-user.ts";
export { type DeleteUser, decodeDeleteUser, encodeDeleteUser } from "./users/delete-user.ts";
export {
  decodeGetUser,
  decodeGetUserReply,
  encodeGetUser,
  encodeGetUserReply,
  type GetUser,
} from "./users/get-user.ts";
export { decodeGetUsersReply, encodeGetUsersReply } from "./users/get-users.ts";
export {
  decodeUpdatePermissions,
  encodeUpdatePermissions,
  type UpdatePermissions,
} from "./users/update-permissions.ts";
export { decodeUpdateUser, encodeUpdateUser, type UpdateUser } from "./users/update-user.ts";
export { type UserDetails, type UserRecord, type UserStatus, UserStatusCode } from "./users/user-record.ts";
export type { UserTarget } from "./users/user-target.ts";
export {
  acceptsProtocolVersion,
  oldestAcceptedVersion,
  PROTOCOL_VERSION,
  type ProtocolVersion,
  packVersion,
  SERVER_VERSION_NUMBER,
  SERVER_VERSION_TEXT,
  unpackVersion,
} from "./version.ts";
