import fc from "fast-check";
import * as any from "./arbitraries.compliance.ts";
import { record } from "./arbitraries.compliance.ts";
import type { CommandName } from "./command.table.ts";
import * as protocol from "./index.ts";
import {
  clusterNode,
  consumerSession,
  encodePollMessagesReply,
  pollReply,
  pollRequest,
  pollRouting,
} from "./poll-arbitraries.compliance.ts";
import {
  clientDetails,
  clientRecord,
  clusterGroups,
  clusterGroupsAsked,
  groupDetails,
  groupRecord,
  groupTarget,
  keysOf,
  list,
  optional,
  partitionsChange,
  repairReply,
  repairRequest,
  retentionPage,
  status,
  streamDetails,
  streamRecord,
  streamTarget,
  topicDetails,
  topicRecord,
  topicRetention,
  topicTarget,
  userDetails,
  userRecord,
  userTarget,
  verifyStep,
  verifyStepReply,
} from "./record-arbitraries.compliance.ts";
import { OptionScopeCode } from "./system/describe-options.ts";
import { SnapshotCompressionCode, SnapshotTypeCode } from "./system/get-snapshot.ts";

/** One codec with a generator of its values; what every codec has to satisfy is in `body-codec.test.ts`. */
export interface CodecUnderTest {
  readonly arbitrary: fc.Arbitrary<unknown>;
  readonly encode: (value: unknown) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
}

/** The codecs of one command; a part that is missing is an empty body. */
export interface CommandCodecs {
  readonly request?: CodecUnderTest;
  readonly reply?: CodecUnderTest;
}

function codec<T>(
  arbitrary: fc.Arbitrary<T>,
  encode: (value: T) => Uint8Array,
  decode: (bytes: Uint8Array) => T,
): CodecUnderTest {
  return { arbitrary, encode: (value) => encode(value as T), decode };
}

const loginReply = codec(
  record({
    userId: any.u32,
    session: any.counter,
    serverProtocolVersion: any.u32,
    serverVersion: any.name,
  }),
  protocol.encodeLoginReply,
  protocol.decodeLoginReply,
);
const versionPrefix = { protocolVersion: any.u32, sdkName: any.name, sdkVersion: any.name };
const ack = fc.constantFrom("none" as const, "quorum" as const);

/** The metadata in front of a batch and the batch position it implies. */
const sendMetadata = record({
  stream: any.identifier,
  topic: any.identifier,
  partitioning: any.partitioning,
  messagesCount: any.u32,
}).map((metadata) => ({ ...metadata, batchPosition: protocol.encodeSendMetadata(metadata).length }));

/**
 * Every command of the protocol and its codecs; `{}` is a command whose bodies are empty, or that is refused.
 */
export const ALL_CODECS: Readonly<Record<CommandName, CommandCodecs>> = {
  Ping: {},
  LogoutUser: {},
  LoginUser: {},
  LoginWithPersonalAccessToken: {},
  GetStats: {
    reply: codec(
      record({
        processId: any.u32,
        cpuUsage: any.float,
        totalCpuUsage: any.float,
        memoryUsage: any.counter,
        totalMemory: any.counter,
        availableMemory: any.counter,
        runTime: any.counter,
        startTime: any.counter,
        readBytes: any.counter,
        writtenBytes: any.counter,
        messagesByteLength: any.counter,
        streamsCount: any.u32,
        topicsCount: any.u32,
        partitionsCount: any.u32,
        segmentsCount: any.u32,
        messagesCount: any.counter,
        clientsCount: any.u32,
        consumerGroupsCount: any.u32,
        hostname: any.text,
        osName: any.text,
        osVersion: any.text,
        kernelVersion: any.text,
        serverVersion: any.text,
        serverVersionNumber: any.u32,
        cacheMetrics: list(
          record({
            streamId: any.u32,
            topicId: any.u32,
            partitionId: any.u32,
            hits: any.counter,
            misses: any.counter,
            ratio: any.float,
          }),
        ),
        threadsCount: any.u32,
        freeDiskSpace: any.counter,
        totalDiskSpace: any.counter,
      }),
      protocol.encodeGetStatsReply,
      protocol.decodeGetStatsReply,
    ),
  },
  GetSnapshot: {
    request: codec(
      record({
        compression: keysOf(SnapshotCompressionCode),
        types: list(keysOf(SnapshotTypeCode)),
      }),
      protocol.encodeGetSnapshot,
      protocol.decodeGetSnapshot,
    ),
  },
  GetClusterMetadata: {
    reply: codec(
      record({ name: any.text, nodes: list(clusterNode) }),
      protocol.encodeGetClusterMetadataReply,
      protocol.decodeGetClusterMetadataReply,
    ),
  },
  AttachConsumerSession: {
    request: codec(
      consumerSession,
      protocol.encodeAttachConsumerSession,
      protocol.decodeAttachConsumerSession,
    ),
  },
  DescribeOptions: {
    request: codec(
      record({ scope: keysOf(OptionScopeCode) }),
      protocol.encodeDescribeOptions,
      protocol.decodeDescribeOptions,
    ),
    reply: codec(
      list(
        record({
          key: any.name,
          defaultValue: record({ kind: any.u8, bytes: any.bytes8 }),
          description: any.text,
        }),
      ),
      protocol.encodeDescribeOptionsReply,
      (payload) => [...protocol.decodeDescribeOptionsReply(payload)],
    ),
  },
  GetMe: { reply: codec(clientDetails, protocol.encodeGetMeReply, protocol.decodeGetMeReply) },
  GetClient: {
    request: codec(record({ clientId: any.u32 }), protocol.encodeGetClient, protocol.decodeGetClient),
    reply: codec(optional(clientDetails), protocol.encodeGetClientReply, protocol.decodeGetClientReply),
  },
  GetClients: {
    reply: codec(list(clientRecord), protocol.encodeGetClientsReply, protocol.decodeGetClientsReply),
  },
  GetUser: {
    request: codec(userTarget, protocol.encodeGetUser, protocol.decodeGetUser),
    reply: codec(optional(userDetails), protocol.encodeGetUserReply, protocol.decodeGetUserReply),
  },
  GetUsers: { reply: codec(list(userRecord), protocol.encodeGetUsersReply, protocol.decodeGetUsersReply) },
  CreateUser: {
    request: codec(
      record({
        username: any.name,
        password: any.text,
        status,
        permissions: optional(any.permissions),
        options: any.options,
      }),
      protocol.encodeCreateUser,
      protocol.decodeCreateUser,
    ),
    reply: codec(userDetails, protocol.encodeCreateUserReply, protocol.decodeCreateUserReply),
  },
  DeleteUser: { request: codec(userTarget, protocol.encodeDeleteUser, protocol.decodeDeleteUser) },
  UpdateUser: {
    request: codec(
      record({
        user: any.identifier,
        username: optional(any.name),
        status: optional(status),
        options: any.options,
      }),
      protocol.encodeUpdateUser,
      protocol.decodeUpdateUser,
    ),
  },
  UpdatePermissions: {
    request: codec(
      record({ user: any.identifier, permissions: optional(any.permissions) }),
      protocol.encodeUpdatePermissions,
      protocol.decodeUpdatePermissions,
    ),
  },
  ChangePassword: {
    request: codec(
      record({ user: any.identifier, currentPassword: any.text, newPassword: any.text }),
      protocol.encodeChangePassword,
      protocol.decodeChangePassword,
    ),
  },
  LoginRegister: {
    request: codec(
      record({ ...versionPrefix, username: any.name, password: any.text, context: any.text }),
      protocol.encodeLoginRegister,
      protocol.decodeLoginRegister,
    ),
    reply: loginReply,
  },
  LoginRegisterWithPat: {
    request: codec(
      record({ ...versionPrefix, token: any.text, context: any.text }),
      protocol.encodeLoginRegisterWithPat,
      protocol.decodeLoginRegisterWithPat,
    ),
    reply: loginReply,
  },
  GetPersonalAccessTokens: {
    reply: codec(
      list(record({ name: any.name, expiryAt: any.u64 })),
      protocol.encodeGetPersonalAccessTokensReply,
      protocol.decodeGetPersonalAccessTokensReply,
    ),
  },
  CreatePersonalAccessToken: {
    request: codec(
      record({ name: any.name, expiryMicros: any.u64 }),
      protocol.encodeCreatePersonalAccessToken,
      protocol.decodeCreatePersonalAccessToken,
    ),
    reply: codec(
      any.name,
      protocol.encodeCreatePersonalAccessTokenReply,
      protocol.decodeCreatePersonalAccessTokenReply,
    ),
  },
  DeletePersonalAccessToken: {
    request: codec(
      record({ name: any.name }),
      protocol.encodeDeletePersonalAccessToken,
      protocol.decodeDeletePersonalAccessToken,
    ),
  },
  PollMessages: {
    request: codec(pollRequest, protocol.encodePollMessages, protocol.decodePollMessages),
    reply: codec(pollReply, encodePollMessagesReply, protocol.decodePollMessagesReply),
  },
  GetPollRouting: {
    request: codec(pollRequest, protocol.encodePollMessages, protocol.decodePollMessages),
    reply: codec(pollRouting, protocol.encodePollRoutingReply, protocol.decodePollRoutingReply),
  },
  PollMessagesOnPrimary: {
    request: codec(pollRequest, protocol.encodePollMessages, protocol.decodePollMessages),
    reply: codec(pollReply, encodePollMessagesReply, protocol.decodePollMessagesReply),
  },
  GetConsumerOffsetRouting: {
    request: codec(any.offsetTarget, protocol.encodeGetConsumerOffset, protocol.decodeGetConsumerOffset),
    reply: codec(pollRouting, protocol.encodePollRoutingReply, protocol.decodePollRoutingReply),
  },
  SendMessages: {
    request: codec(sendMetadata, protocol.encodeSendMetadata, protocol.decodeSendMetadata),
    reply: codec(
      list(
        record({
          streamId: any.u32,
          topicId: any.u32,
          partitionId: any.u32,
          baseOffset: any.counter,
        }),
      ),
      protocol.encodeSendMessagesReply,
      (payload) => [...protocol.decodeSendMessagesReply(payload)],
    ),
  },
  FlushUnsavedBuffer: {
    request: codec(
      record({
        stream: any.identifier,
        topic: any.identifier,
        partitionId: any.u32,
        fsync: fc.boolean(),
      }),
      protocol.encodeFlushUnsavedBuffer,
      protocol.decodeFlushUnsavedBuffer,
    ),
  },
  GetConsumerOffset: {
    request: codec(any.offsetTarget, protocol.encodeGetConsumerOffset, protocol.decodeGetConsumerOffset),
    reply: codec(
      optional(record({ partitionId: any.u32, currentOffset: any.counter, storedOffset: any.counter })),
      protocol.encodeGetConsumerOffsetReply,
      protocol.decodeGetConsumerOffsetReply,
    ),
  },
  StoreConsumerOffset: {
    request: codec(
      fc.tuple(any.offsetTarget, any.u64, ack).map(([target, offset, acked]) => {
        return { ...target, offset, ack: acked };
      }),
      protocol.encodeStoreConsumerOffset,
      protocol.decodeStoreConsumerOffset,
    ),
  },
  DeleteConsumerOffset: {
    request: codec(
      fc.tuple(any.offsetTarget, ack).map(([target, acked]) => ({ ...target, ack: acked })),
      protocol.encodeDeleteConsumerOffset,
      protocol.decodeDeleteConsumerOffset,
    ),
  },
  GetStream: {
    request: codec(streamTarget, protocol.encodeGetStream, protocol.decodeGetStream),
    reply: codec(optional(streamDetails), protocol.encodeGetStreamReply, protocol.decodeGetStreamReply),
  },
  GetStreams: {
    reply: codec(list(streamRecord), protocol.encodeGetStreamsReply, protocol.decodeGetStreamsReply),
  },
  CreateStream: {
    request: codec(
      record({ name: any.name, options: any.options }),
      protocol.encodeCreateStream,
      protocol.decodeCreateStream,
    ),
    reply: codec(streamDetails, protocol.encodeCreateStreamReply, protocol.decodeCreateStreamReply),
  },
  DeleteStream: { request: codec(streamTarget, protocol.encodeDeleteStream, protocol.decodeDeleteStream) },
  UpdateStream: {
    request: codec(
      record({ stream: any.identifier, name: any.name, options: any.options }),
      protocol.encodeUpdateStream,
      protocol.decodeUpdateStream,
    ),
  },
  PurgeStream: { request: codec(streamTarget, protocol.encodePurgeStream, protocol.decodePurgeStream) },
  GetTopic: {
    request: codec(topicTarget, protocol.encodeGetTopic, protocol.decodeGetTopic),
    reply: codec(optional(topicDetails), protocol.encodeGetTopicReply, protocol.decodeGetTopicReply),
  },
  GetTopicRetention: {
    request: codec(retentionPage, protocol.encodeGetTopicRetention, protocol.decodeGetTopicRetention),
    reply: codec(
      topicRetention,
      protocol.encodeGetTopicRetentionReply,
      protocol.decodeGetTopicRetentionReply,
    ),
  },
  GetTopics: {
    request: codec(streamTarget, protocol.encodeGetTopics, protocol.decodeGetTopics),
    reply: codec(list(topicRecord), protocol.encodeGetTopicsReply, (payload) => [
      ...protocol.decodeGetTopicsReply(payload),
    ]),
  },
  CreateTopic: {
    request: codec(
      record({
        stream: any.identifier,
        partitionsCount: any.u32,
        name: any.name,
        options: any.options,
      }),
      protocol.encodeCreateTopic,
      protocol.decodeCreateTopic,
    ),
    reply: codec(topicDetails, protocol.encodeCreateTopicReply, protocol.decodeCreateTopicReply),
  },
  DeleteTopic: { request: codec(topicTarget, protocol.encodeDeleteTopic, protocol.decodeDeleteTopic) },
  UpdateTopic: {
    request: codec(
      record({
        stream: any.identifier,
        topic: any.identifier,
        name: any.name,
        options: any.options,
      }),
      protocol.encodeUpdateTopic,
      protocol.decodeUpdateTopic,
    ),
  },
  PurgeTopic: { request: codec(topicTarget, protocol.encodePurgeTopic, protocol.decodePurgeTopic) },
  CreatePartitions: {
    request: codec(partitionsChange, protocol.encodeCreatePartitions, protocol.decodeCreatePartitions),
  },
  DeletePartitions: {
    request: codec(partitionsChange, protocol.encodeDeletePartitions, protocol.decodeDeletePartitions),
  },
  DeleteSegments: {
    request: codec(
      record({
        stream: any.identifier,
        topic: any.identifier,
        partitionId: any.u32,
        segmentsCount: any.u32,
      }),
      protocol.encodeDeleteSegments,
      protocol.decodeDeleteSegments,
    ),
  },
  GetConsumerGroup: {
    request: codec(groupTarget, protocol.encodeGetConsumerGroup, protocol.decodeGetConsumerGroup),
    reply: codec(
      optional(groupDetails),
      protocol.encodeGetConsumerGroupReply,
      protocol.decodeGetConsumerGroupReply,
    ),
  },
  GetConsumerGroups: {
    request: codec(topicTarget, protocol.encodeGetConsumerGroups, protocol.decodeGetConsumerGroups),
    reply: codec(
      list(groupRecord),
      protocol.encodeGetConsumerGroupsReply,
      protocol.decodeGetConsumerGroupsReply,
    ),
  },
  CreateConsumerGroup: {
    request: codec(
      record({ stream: any.identifier, topic: any.identifier, name: any.name }),
      protocol.encodeCreateConsumerGroup,
      protocol.decodeCreateConsumerGroup,
    ),
    reply: codec(
      groupDetails,
      protocol.encodeCreateConsumerGroupReply,
      protocol.decodeCreateConsumerGroupReply,
    ),
  },
  DeleteConsumerGroup: {
    request: codec(groupTarget, protocol.encodeDeleteConsumerGroup, protocol.decodeDeleteConsumerGroup),
  },
  JoinConsumerGroup: {
    request: codec(groupTarget, protocol.encodeJoinConsumerGroup, protocol.decodeJoinConsumerGroup),
  },
  LeaveConsumerGroup: {
    request: codec(groupTarget, protocol.encodeLeaveConsumerGroup, protocol.decodeLeaveConsumerGroup),
  },
  SyncConsumerGroup: {
    request: codec(groupTarget, protocol.encodeSyncConsumerGroup, protocol.decodeSyncConsumerGroup),
    reply: codec(
      optional(record({ generation: any.counter, partitions: list(any.u32) })),
      protocol.encodeSyncConsumerGroupReply,
      protocol.decodeSyncConsumerGroupReply,
    ),
  },
  GetClusterGroups: {
    request: codec(clusterGroupsAsked, protocol.encodeGetClusterGroups, protocol.decodeGetClusterGroups),
    reply: codec(clusterGroups, protocol.encodeGetClusterGroupsReply, protocol.decodeGetClusterGroupsReply),
  },
  ReadWithoutLogin: {
    request: codec(
      record({ login: any.bytes8, code: any.u32, body: any.bytes8 }),
      protocol.encodeReadWithoutLogin,
      protocol.decodeReadWithoutLogin,
    ),
  },
  RepairPartition: {
    request: codec(repairRequest, protocol.encodeRepairPartition, protocol.decodeRepairPartition),
    reply: codec(repairReply, protocol.encodeRepairPartitionReply, protocol.decodeRepairPartitionReply),
  },
  VerifyPartition: {
    request: codec(verifyStep, protocol.encodeVerifyPartition, protocol.decodeVerifyPartition),
    reply: codec(verifyStepReply, protocol.encodeVerifyPartitionReply, protocol.decodeVerifyPartitionReply),
  },
};
