import type { CommandName } from "@millrace/protocol";

/** Rights of which any one suffices at each level, in the specification's words. */
export interface SufficientRights {
  readonly global: readonly string[];
  readonly stream: readonly string[];
  readonly topic: readonly string[];
}

/** What becomes of a command on a connection without a session. */
export type WithoutLogin = "served" | "status 5" | "status 40" | "eviction 1" | "eviction 15";

/** One command: code, name, what it needs. "login" is any session at all, "nothing" not even that. */
export type CommandRights = readonly [
  code: number,
  name: CommandName,
  withoutLogin: WithoutLogin,
  needs: SufficientRights | "login" | "nothing" | "refused",
];

const rights = (global: string, stream = "", topic = ""): SufficientRights => ({
  global: words(global),
  stream: words(stream),
  topic: words(topic),
});
const words = (text: string) => text.split(" ").filter((word) => word !== "");

const SERVER = rights("manage_servers read_servers");
const USERS = rights("manage_users");
const READ_USERS = rights("manage_users read_users");
const STREAM = rights("manage_streams", "manage_stream");
const LISTED = [
  "manage_streams read_streams manage_topics read_topics",
  "manage_stream read_stream manage_topics read_topics",
] as const;
const TOPIC_READ = rights(...LISTED, "manage_topic read_topic");
const TOPIC = rights("manage_streams manage_topics", "manage_stream manage_topics", "manage_topic");
const POLL = rights(
  "poll_messages read_topics manage_topics read_streams manage_streams",
  "poll_messages read_topics manage_topics read_stream manage_stream",
  "poll_messages read_topic manage_topic",
);
const SEND = rights(
  "send_messages manage_streams manage_topics",
  "send_messages manage_stream manage_topics",
  "send_messages manage_topic",
);

/**
 * Who may do what, copied by hand from the specification and from nothing in the product.
 * @see server-semantics section 11; wire-protocol sections 3.2 and 5.2
 */
export const COMMAND_RIGHTS: readonly CommandRights[] = [
  [1, "Ping", "served", "nothing"],
  [10, "GetStats", "status 40", SERVER],
  [11, "GetSnapshot", "status 40", SERVER],
  [12, "GetClusterMetadata", "status 40", "login"],
  [13, "DescribeOptions", "status 40", "login"],
  [14, "AttachConsumerSession", "status 40", "login"],
  [20, "GetMe", "status 40", "login"],
  [21, "GetClient", "status 40", SERVER],
  [22, "GetClients", "status 40", SERVER],
  [31, "GetUser", "status 40", READ_USERS],
  [32, "GetUsers", "status 40", READ_USERS],
  [33, "CreateUser", "eviction 1", USERS],
  [34, "DeleteUser", "eviction 1", USERS],
  [35, "UpdateUser", "eviction 1", USERS],
  [36, "UpdatePermissions", "eviction 1", USERS],
  [37, "ChangePassword", "eviction 1", USERS],
  [38, "LoginUser", "eviction 15", "refused"],
  [39, "LogoutUser", "served", "nothing"],
  [40, "LoginRegister", "served", "nothing"],
  [41, "GetPersonalAccessTokens", "status 40", "login"],
  [42, "CreatePersonalAccessToken", "eviction 1", "login"],
  [43, "DeletePersonalAccessToken", "eviction 1", "login"],
  [44, "LoginWithPersonalAccessToken", "eviction 15", "refused"],
  [45, "LoginRegisterWithPat", "served", "nothing"],
  [100, "PollMessages", "status 40", POLL],
  [101, "SendMessages", "eviction 1", SEND],
  [102, "FlushUnsavedBuffer", "status 40", "refused"],
  [103, "GetPollRouting", "status 40", POLL],
  [104, "PollMessagesOnPrimary", "status 40", POLL],
  [120, "GetConsumerOffset", "status 40", POLL],
  [121, "StoreConsumerOffset", "eviction 1", POLL],
  [122, "DeleteConsumerOffset", "eviction 1", POLL],
  [123, "GetConsumerOffsetRouting", "status 40", POLL],
  [200, "GetStream", "status 40", rights("manage_streams read_streams", "manage_stream read_stream")],
  [201, "GetStreams", "status 40", rights("manage_streams read_streams")],
  [202, "CreateStream", "eviction 1", rights("manage_streams")],
  [203, "DeleteStream", "eviction 1", STREAM],
  [204, "UpdateStream", "eviction 1", STREAM],
  [205, "PurgeStream", "eviction 1", STREAM],
  [300, "GetTopic", "status 40", TOPIC_READ],
  [301, "GetTopics", "status 40", rights(...LISTED)],
  [302, "CreateTopic", "eviction 1", rights("manage_streams manage_topics", "manage_stream manage_topics")],
  [303, "DeleteTopic", "eviction 1", TOPIC],
  [304, "UpdateTopic", "eviction 1", TOPIC],
  [305, "PurgeTopic", "eviction 1", TOPIC],
  [402, "CreatePartitions", "eviction 1", TOPIC],
  [403, "DeletePartitions", "eviction 1", TOPIC],
  [503, "DeleteSegments", "eviction 1", TOPIC],
  [600, "GetConsumerGroup", "status 40", TOPIC_READ],
  [601, "GetConsumerGroups", "status 40", TOPIC_READ],
  [602, "CreateConsumerGroup", "eviction 1", TOPIC_READ],
  [603, "DeleteConsumerGroup", "eviction 1", TOPIC_READ],
  [604, "JoinConsumerGroup", "eviction 1", TOPIC_READ],
  [605, "LeaveConsumerGroup", "eviction 1", TOPIC_READ],
  [606, "SyncConsumerGroup", "status 40", "login"],
  // Ours: whoever may empty a topic may have its files checked.
  [20_000, "VerifyPartition", "status 40", TOPIC],
  [20_002, "RepairPartition", "status 40", TOPIC],
  // Ours: whoever may look at a topic may see what retention does to it.
  [20_300, "GetTopicRetention", "status 40", TOPIC_READ],
  // Ours: whoever may look at servers may see where the nodes of a cluster stand.
  [20_400, "GetClusterGroups", "status 40", SERVER],
  // Ours: it brings credentials of its own; on a server that stands alone it is refused.
  [20_401, "ReadWithoutLogin", "status 5", "refused"],
];

/** Every right there is, by level. */
export const RIGHTS = {
  global: words(
    "manage_servers read_servers manage_users read_users manage_streams read_streams manage_topics read_topics " +
      "poll_messages send_messages",
  ),
  stream: words("manage_stream read_stream manage_topics read_topics poll_messages send_messages"),
  topic: words("manage_topic read_topic poll_messages send_messages"),
} as const;
