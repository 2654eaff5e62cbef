import type { ClientRecord, GroupMembership } from "@millrace/protocol";
import type { Field } from "../../output/result.ts";

/** What is shown of a client, in the order of `client list`. A client that is not logged in has no user. */
export const CLIENT_FIELDS: readonly Field<ClientRecord>[] = [
  { name: "client_id", title: "Client ID", value: (client) => client.clientId },
  { name: "user_id", title: "User ID", value: (client) => client.userId ?? null },
  { name: "address", title: "Address", value: (client) => client.address },
  { name: "transport", title: "Transport", value: (client) => client.transport },
  { name: "consumer_groups_count", title: "Consumer Groups", value: (client) => client.groupsCount },
];

/** What is shown of a consumer group that a client is a member of. */
export const CLIENT_GROUP_FIELDS: readonly Field<GroupMembership>[] = [
  { name: "stream_id", title: "Stream ID", value: (group) => group.streamId },
  { name: "topic_id", title: "Topic ID", value: (group) => group.topicId },
  { name: "group_id", title: "Consumer Group ID", value: (group) => group.groupId },
];
