import { CommandCode } from "@millrace/protocol";
import { getConsumerGroup } from "./consumer-groups/get-consumer-group.ts";
import { getConsumerGroups } from "./consumer-groups/get-consumer-groups.ts";
import { joinConsumerGroup } from "./consumer-groups/join-consumer-group.ts";
import { syncConsumerGroup } from "./consumer-groups/sync-consumer-group.ts";
import type { Handler } from "./handler.ts";
import { getConsumerOffsetRouting, getPollRouting } from "./messages/get-poll-routing.ts";
import { pollMessages, pollMessagesOnPrimary } from "./messages/poll-messages.ts";
import { sendMessages } from "./messages/send-messages.ts";
import { commitMetadata } from "./metadata/commit-metadata.ts";
import { createPartitions, createTopic, updateTopic } from "./metadata/commit-topic-limits.ts";
import { deleteSegments } from "./metadata/delete-segments.ts";
import { deleteConsumerOffset } from "./offsets/delete-consumer-offset.ts";
import { getConsumerOffset } from "./offsets/get-consumer-offset.ts";
import { storeConsumerOffset } from "./offsets/store-consumer-offset.ts";
import { repairPartition } from "./partitions/repair-partition.ts";
import { verifyPartition } from "./partitions/verify-partition.ts";
import { getStream } from "./streams/get-stream.ts";
import { getStreams } from "./streams/get-streams.ts";
import { attachConsumerSession } from "./system/attach-consumer-session.ts";
import { describeOptions } from "./system/describe-options.ts";
import { getClient } from "./system/get-client.ts";
import { getClients } from "./system/get-clients.ts";
import { getClusterGroups } from "./system/get-cluster-groups.ts";
import { getClusterMetadata } from "./system/get-cluster-metadata.ts";
import { getMe } from "./system/get-me.ts";
import { getSnapshot } from "./system/get-snapshot.ts";
import { getStats } from "./system/get-stats.ts";
import { createToken } from "./tokens/create-token.ts";
import { getTokens } from "./tokens/get-tokens.ts";
import { getTopic } from "./topics/get-topic.ts";
import { getTopicRetention } from "./topics/get-topic-retention.ts";
import { getTopics } from "./topics/get-topics.ts";
import { changePassword } from "./users/change-password.ts";
import { createUser } from "./users/create-user.ts";
import { getUser } from "./users/get-user.ts";
import { getUsers } from "./users/get-users.ts";

/**
 * Who carries out a command, by its code. Ping, login and logout are served before this table is asked; what
 * is not in it (flush) answers `FeatureUnavailable`.
 */
export const COMMAND_HANDLERS: ReadonlyMap<number, Handler> = new Map<number, Handler>([
  [CommandCode.GetStats, getStats],
  [CommandCode.GetClusterMetadata, getClusterMetadata],
  [CommandCode.DescribeOptions, describeOptions],
  [CommandCode.AttachConsumerSession, attachConsumerSession],
  [CommandCode.GetSnapshot, getSnapshot],
  [CommandCode.GetMe, getMe],
  [CommandCode.GetClient, getClient],
  [CommandCode.GetClients, getClients],
  [CommandCode.GetUser, getUser],
  [CommandCode.GetUsers, getUsers],
  [CommandCode.CreateUser, createUser],
  [CommandCode.DeleteUser, commitMetadata],
  [CommandCode.UpdateUser, commitMetadata],
  [CommandCode.UpdatePermissions, commitMetadata],
  [CommandCode.ChangePassword, changePassword],
  [CommandCode.GetPersonalAccessTokens, getTokens],
  [CommandCode.CreatePersonalAccessToken, createToken],
  [CommandCode.DeletePersonalAccessToken, commitMetadata],
  [CommandCode.PollMessages, pollMessages],
  [CommandCode.PollMessagesOnPrimary, pollMessagesOnPrimary],
  [CommandCode.GetPollRouting, getPollRouting],
  [CommandCode.GetConsumerOffsetRouting, getConsumerOffsetRouting],
  [CommandCode.SendMessages, sendMessages],
  [CommandCode.GetConsumerOffset, getConsumerOffset],
  [CommandCode.StoreConsumerOffset, storeConsumerOffset],
  [CommandCode.DeleteConsumerOffset, deleteConsumerOffset],
  [CommandCode.GetStream, getStream],
  [CommandCode.GetStreams, getStreams],
  [CommandCode.CreateStream, commitMetadata],
  [CommandCode.UpdateStream, commitMetadata],
  [CommandCode.DeleteStream, commitMetadata],
  [CommandCode.PurgeStream, commitMetadata],
  [CommandCode.GetTopic, getTopic],
  [CommandCode.GetTopics, getTopics],
  [CommandCode.CreateTopic, createTopic],
  [CommandCode.UpdateTopic, updateTopic],
  [CommandCode.DeleteTopic, commitMetadata],
  [CommandCode.PurgeTopic, commitMetadata],
  [CommandCode.CreatePartitions, createPartitions],
  [CommandCode.DeletePartitions, commitMetadata],
  [CommandCode.DeleteSegments, deleteSegments],
  [CommandCode.GetConsumerGroup, getConsumerGroup],
  [CommandCode.GetConsumerGroups, getConsumerGroups],
  [CommandCode.CreateConsumerGroup, commitMetadata],
  [CommandCode.DeleteConsumerGroup, commitMetadata],
  [CommandCode.JoinConsumerGroup, joinConsumerGroup],
  [CommandCode.LeaveConsumerGroup, commitMetadata],
  [CommandCode.SyncConsumerGroup, syncConsumerGroup],
  [CommandCode.VerifyPartition, verifyPartition],
  [CommandCode.RepairPartition, repairPartition],
  [CommandCode.GetTopicRetention, getTopicRetention],
  [CommandCode.GetClusterGroups, getClusterGroups],
]);
