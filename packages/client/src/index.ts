/**
 * The Millrace client: catalog calls, producer and consumer for Millrace and Apache Iggy 0.9.0 servers.
 *
 * ```ts
 * import { MillraceClient } from "@millrace/client";
 *
 * const client = await MillraceClient.connect("iggy://iggy:iggy@127.0.0.1:8090");
 * await client.createStream("shop");
 * await client.createTopic("shop", { name: "orders", partitionsCount: 3 });
 *
 * const producer = client.producer({ stream: "shop", topic: "orders" });
 * await producer.send({ payload: { json: { item: "tea" } }, key: "customer-7" });
 *
 * for await (const message of client.consumer({ stream: "shop", topic: "orders", consumer: "billing" })) {
 *   message.json(); // { item: "tea" }
 *   break;
 * }
 * await client.close();
 * ```
 *
 * @packageDocumentation
 */
export { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
export type { FieldKindName, FieldValue, TypedField, TypedFieldPair } from "@millrace/framing";
export {
  type ClientDetails,
  type ClientRecord,
  type ClusterGroups,
  type ClusterMetadata,
  type ClusterNode,
  type GetSnapshot,
  type GlobalPermissions,
  type GroupAssignment,
  type GroupDetails,
  type GroupMember,
  type GroupMembership,
  type GroupRecord,
  type GroupStanding,
  type Identifier,
  type OptionScope,
  type RepairPartitionReply,
  type TopicPermissions,
  U64_MAX,
  type UserStatus,
  type VerifyDamage,
  type VerifyPartitionReply,
  type VerifyPlace,
} from "@millrace/protocol";
export { createDefaultPlatform } from "#default-platform";
export type { PartitionPlace, VerifyStepRequest } from "./admin/care-calls.ts";
export type { Partition, Stream, StreamDetails, Topic, TopicDetails } from "./admin/catalog-shapes.ts";
export type { GroupPlace } from "./admin/group-calls.ts";
export type { OffsetPlace, StoredOffset } from "./admin/offset-calls.ts";
export type { OptionValues, RawOptionValue } from "./admin/option-values.ts";
export type { NewPermissions, StreamRights, UserPermissions } from "./admin/permission-shapes.ts";
export type {
  PartitionRetention,
  RetentionHolder,
  RetentionSum,
  TopicRetention,
} from "./admin/retention-shapes.ts";
export type { CacheMetrics, Stats } from "./admin/stats.ts";
export type { Name, StreamOptions } from "./admin/stream-calls.ts";
export type { ClusterGroupsRequest, KnownOption } from "./admin/system-calls.ts";
export type { PersonalAccessToken } from "./admin/token-calls.ts";
export type { NewTopic, TopicUpdate } from "./admin/topic-calls.ts";
export type { Durability, TopicOptions } from "./admin/topic-options.ts";
export type { NewUser, User, UserDetails, UserUpdate } from "./admin/user-calls.ts";
export type { ClientOptions, ReconnectOptions, TlsOptions } from "./client-options.ts";
export type { ClientPlatform, ConnectRequest, Scope } from "./client-platform.ts";
export { ClusterObserver } from "./cluster-observer.ts";
export type { ClientEvent, ClientEventFacts, ClientEventListener } from "./connection/client-events.ts";
export { parseConnectionString } from "./connection-string.ts";
export type {
  CommitMode,
  Consumer,
  ConsumerOptions,
  MessageHandler,
  OnHandlerError,
} from "./consumer/consumer.ts";
export type { ConsumerEventFacts, RefusedFacts, SkippedFacts } from "./consumer/consumer-events.ts";
export type { GroupConsumer, GroupConsumerOptions } from "./consumer-group/group-consumer.ts";
export type {
  GroupEventFacts,
  RebalancedFacts,
  RestartedFacts,
  StalledFacts,
} from "./consumer-group/group-events.ts";
export type { Message, MessageKey, Payload } from "./messages/message.ts";
export type { HeaderValue, MessageHeaders, TypedValue } from "./messages/message-headers.ts";
export type { PartitionChoice } from "./messages/partition-choice.ts";
export type { PolledMessages, PollRequest, PollStart } from "./messages/poll.ts";
export type { ReceivedMessage } from "./messages/received-message.ts";
export { MillraceClient, type SendConfirmation, type SendRequest } from "./millrace-client.ts";
export type { Producer } from "./producer/producer.ts";
export type { ProducerOptions } from "./producer/producer-options.ts";
export type { Ack, AckRange } from "./producer/receipts.ts";
export type { ClientTransport } from "./server-address.ts";
