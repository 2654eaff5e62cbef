import type {
  GroupConsumerOptions,
  MillraceClient,
  PolledMessages,
  PollRequest,
  Producer,
  ProducerOptions,
  ReceivedMessage,
} from "@millrace/client";

/** What commands read of a received message. */
export type ShownMessage = Pick<
  ReceivedMessage,
  | "partitionId"
  | "offset"
  | "timestamp"
  | "originTimestamp"
  | "id"
  | "checksum"
  | "payload"
  | "userHeaders"
  | "headerFields"
>;

/** The calls of the SDK's client that commands make as they are. */
type PlainCalls = Pick<
  MillraceClient,
  | "ping"
  | "close"
  | "getMe"
  | "getClient"
  | "getClients"
  | "getStats"
  | "getClusterMetadata"
  | "getClusterGroups"
  | "describeOptions"
  | "createStream"
  | "getStream"
  | "getStreams"
  | "updateStream"
  | "deleteStream"
  | "purgeStream"
  | "createTopic"
  | "getTopic"
  | "getTopicRetention"
  | "getTopics"
  | "updateTopic"
  | "deleteTopic"
  | "purgeTopic"
  | "createPartitions"
  | "deletePartitions"
  | "deleteSegments"
  | "createConsumerGroup"
  | "deleteConsumerGroup"
  | "getConsumerGroup"
  | "getConsumerGroups"
  | "getConsumerOffset"
  | "storeConsumerOffset"
  | "deleteConsumerOffset"
  | "userId"
  | "createUser"
  | "getUser"
  | "getUsers"
  | "updateUser"
  | "updatePermissions"
  | "changePassword"
  | "deleteUser"
  | "createPersonalAccessToken"
  | "getPersonalAccessTokens"
  | "deletePersonalAccessToken"
  | "getSnapshot"
  | "flushUnsavedBuffer"
  | "verifyPartition"
  | "repairPartition"
>;

/** A member of a consumer group as `message tail` reads it. */
export interface GroupReader {
  [Symbol.asyncIterator](): AsyncIterator<ShownMessage, undefined>;
  commit(message?: ShownMessage): Promise<void>;
  close(): Promise<void>;
}

/** What is asked of a node about its cluster by somebody who is not logged in. */
export type Observer = Pick<MillraceClient, "getClusterMetadata" | "getClusterGroups" | "close">;

/** What commands ask of a session; the SDK's client is one, tests bring another. */
export interface Client extends PlainCalls {
  pollMessages(
    poll: PollRequest,
  ): Promise<
    Pick<PolledMessages, "partitionId" | "currentOffset"> & { readonly messages: readonly ShownMessage[] }
  >;
  consumerGroup(
    options: Pick<GroupConsumerOptions, "stream" | "topic" | "group" | "batchCountMax">,
  ): GroupReader;
  producer(options: ProducerOptions): Pick<Producer, "send" | "close">;
}
