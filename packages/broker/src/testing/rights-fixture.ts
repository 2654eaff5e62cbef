import {
  CommandCode,
  type CommandName,
  decodeGetTopicReply,
  encodeAttachConsumerSession,
  encodeChangePassword,
  encodeCreateConsumerGroup,
  encodeCreatePartitions,
  encodeCreatePersonalAccessToken,
  encodeCreateStream,
  encodeCreateTopic,
  encodeCreateUser,
  encodeDeleteConsumerGroup,
  encodeDeleteConsumerOffset,
  encodeDeletePartitions,
  encodeDeletePersonalAccessToken,
  encodeDeleteSegments,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeDeleteUser,
  encodeDescribeOptions,
  encodeFlushUnsavedBuffer,
  encodeGetClient,
  encodeGetClusterGroups,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
  encodeGetConsumerOffset,
  encodeGetSnapshot,
  encodeGetStream,
  encodeGetTopic,
  encodeGetTopicRetention,
  encodeGetTopics,
  encodeGetUser,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodeLoginRegister,
  encodePurgeStream,
  encodePurgeTopic,
  encodeReadWithoutLogin,
  encodeRepairPartition,
  encodeStoreConsumerOffset,
  encodeSyncConsumerGroup,
  encodeUpdatePermissions,
  encodeUpdateStream,
  encodeUpdateTopic,
  encodeUpdateUser,
  encodeVerifyPartition,
  NO_OPTIONS,
  type Permissions,
  PROTOCOL_VERSION,
  toIdentifier,
} from "@millrace/protocol";
import { RIGHTS } from "./command-rights.table.ts";
import { sendBody } from "./test-batches.ts";
import type { TestClient } from "./test-client.ts";
import { pollBody } from "./test-polls.ts";

/** The password of every user here. */
export const PASSWORD = "secret";

/** Where a right is given: everywhere, on stream 0 or topic 0 of it, or on others of their kind. */
export type Level = "global" | "stream" | "topic" | "other stream" | "other topic";

const stream = toIdentifier(0);
const topic = { stream, topic: toIdentifier(0) };
const victim = toIdentifier("victim");
const group = { ...topic, group: toIdentifier("g") };
const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
const offset = { ...topic, consumer, partitionId: 0 };
const PARTITIONS_COUNT = 2;
const EMPTY = new Uint8Array(0);

const rootLogin = encodeLoginRegister({
  ...{ protocolVersion: PROTOCOL_VERSION, sdkName: "test", sdkVersion: "1" },
  ...{ username: "iggy", password: "iggy", context: "" },
});

/** A body for every command that makes it succeed on what `restore` leaves, for a user who may. */
export const BODIES: Readonly<Partial<Record<CommandName, Uint8Array>>> = {
  GetSnapshot: encodeGetSnapshot({ compression: "stored", types: ["test"] }),
  AttachConsumerSession: encodeAttachConsumerSession({ client: 404n, session: 1, metadataWatermark: 0 }),
  DescribeOptions: encodeDescribeOptions({ scope: "topic" }),
  GetClient: encodeGetClient({ clientId: 1 }),
  GetUser: encodeGetUser({ user: toIdentifier(0) }),
  CreateUser: userBody("made"),
  DeleteUser: encodeDeleteUser({ user: victim }),
  UpdateUser: encodeUpdateUser({ user: victim, username: "victim", status: "active", options: NO_OPTIONS }),
  UpdatePermissions: encodeUpdatePermissions({ user: victim, permissions: undefined }),
  ChangePassword: changePasswordBody("victim"),
  LoginRegister: rootLogin,
  CreatePersonalAccessToken: encodeCreatePersonalAccessToken({ name: "tok", expiryMicros: 0n }),
  DeletePersonalAccessToken: encodeDeletePersonalAccessToken({ name: "tok" }),
  PollMessages: pollBody(),
  GetPollRouting: pollBody(),
  PollMessagesOnPrimary: pollBody(),
  GetConsumerOffsetRouting: encodeGetConsumerOffset(offset),
  SendMessages: sendBody(["x"]),
  FlushUnsavedBuffer: encodeFlushUnsavedBuffer({ ...topic, partitionId: 0, fsync: false }),
  GetConsumerOffset: encodeGetConsumerOffset(offset),
  StoreConsumerOffset: encodeStoreConsumerOffset({ ...offset, offset: 0n, ack: "quorum" }),
  DeleteConsumerOffset: encodeDeleteConsumerOffset({ ...offset, ack: "quorum" }),
  GetStream: encodeGetStream({ stream }),
  CreateStream: encodeCreateStream({ name: "made", options: NO_OPTIONS }),
  DeleteStream: encodeDeleteStream({ stream }),
  UpdateStream: encodeUpdateStream({ stream, name: "s", options: NO_OPTIONS }),
  PurgeStream: encodePurgeStream({ stream }),
  GetTopic: encodeGetTopic(topic),
  GetTopics: encodeGetTopics({ stream }),
  GetTopicRetention: encodeGetTopicRetention({ ...topic, firstPartitionId: 0, partitionsCount: 2 }),
  CreateTopic: topicBody("made"),
  DeleteTopic: encodeDeleteTopic(topic),
  UpdateTopic: encodeUpdateTopic({ ...topic, name: "t", options: NO_OPTIONS }),
  PurgeTopic: encodePurgeTopic(topic),
  CreatePartitions: encodeCreatePartitions({ ...topic, partitionsCount: 1 }),
  DeletePartitions: encodeDeletePartitions({ ...topic, partitionsCount: 1 }),
  DeleteSegments: encodeDeleteSegments({ ...topic, partitionId: 0, segmentsCount: 1 }),
  GetConsumerGroup: encodeGetConsumerGroup(group),
  GetConsumerGroups: encodeGetConsumerGroups(topic),
  CreateConsumerGroup: encodeCreateConsumerGroup({ ...topic, name: "made" }),
  DeleteConsumerGroup: encodeDeleteConsumerGroup(group),
  JoinConsumerGroup: encodeJoinConsumerGroup(group),
  LeaveConsumerGroup: encodeLeaveConsumerGroup(group),
  SyncConsumerGroup: encodeSyncConsumerGroup(group),
  GetClusterGroups: encodeGetClusterGroups({ countMax: 0 }),
  ReadWithoutLogin: encodeReadWithoutLogin({
    login: rootLogin,
    code: CommandCode.GetClusterMetadata,
    body: EMPTY,
  }),
  RepairPartition: encodeRepairPartition({ ...topic, partitionId: 0, offsets: "proven" }),
  VerifyPartition: encodeVerifyPartition({
    ...{ ...topic, partitionId: 0, lengthMax: 0 },
    from: { segment: 0, opsPosition: 0, logPosition: 0 },
  }),
};

/** A CreateUser body. */
export function userBody(username: string, permissions?: Permissions): Uint8Array {
  const user = { username, password: PASSWORD, status: "active", options: NO_OPTIONS } as const;
  return encodeCreateUser({ ...user, permissions });
}

/** A ChangePassword body that changes nothing. */
export function changePasswordBody(name: string): Uint8Array {
  const passwords = { currentPassword: PASSWORD, newPassword: PASSWORD };
  return encodeChangePassword({ user: toIdentifier(name), ...passwords });
}

function topicBody(name: string, of = stream): Uint8Array {
  return encodeCreateTopic({ stream: of, name, partitionsCount: PARTITIONS_COUNT, options: NO_OPTIONS });
}

/**
 * Brings streams 0 and 1 with topics 0 and 1, two partitions each, a message, a stored offset, a group and a
 * user back as every command expects them. Ids come back because the lowest free one is taken.
 */
export async function restore(root: TestClient): Promise<void> {
  await root.command("DeleteStream", encodeDeleteStream({ stream: toIdentifier("made") }));
  await root.command("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  await root.command("CreateStream", encodeCreateStream({ name: "s1", options: NO_OPTIONS }));
  for (const name of ["s", "s1"]) {
    const of = toIdentifier(name);
    await root.command("DeleteTopic", encodeDeleteTopic({ stream: of, topic: toIdentifier("made") }));
    await root.command("CreateTopic", topicBody("t", of));
    await root.command("CreateTopic", topicBody("t1", of));
  }
  await restorePartitions(root);
  await root.ok("SendMessages", sendBody(["x"]));
  await root.ok("StoreConsumerOffset", BODIES.StoreConsumerOffset);
  await root.command(
    "DeleteConsumerGroup",
    encodeDeleteConsumerGroup({ ...topic, group: toIdentifier("made") }),
  );
  await root.command("CreateConsumerGroup", encodeCreateConsumerGroup({ ...topic, name: "g" }));
  await root.command("DeleteUser", encodeDeleteUser({ user: toIdentifier("made") }));
  await root.command("CreateUser", userBody("victim"));
}

/** Two partitions again, whether one was added or removed. */
async function restorePartitions(root: TestClient): Promise<void> {
  const details = decodeGetTopicReply(await root.ok("GetTopic", BODIES.GetTopic));
  const excess = (details?.partitionsCount ?? 0) - PARTITIONS_COUNT;
  const change = { ...topic, partitionsCount: Math.abs(excess) };
  if (excess > 0) await root.ok("DeletePartitions", encodeDeletePartitions(change));
  if (excess < 0) await root.ok("CreatePartitions", encodeCreatePartitions(change));
}

/** Permissions with one right at one level. */
export function oneRight(level: Level, right: string): Permissions {
  const isGlobal = level === "global";
  const isTopic = level.endsWith("topic");
  const topicRights = { ...flags(RIGHTS.topic, isTopic ? right : "") } as const;
  const topics = new Map(isTopic ? [[level === "topic" ? 0 : 1, topicRights]] : []);
  const streamRights = { ...flags(RIGHTS.stream, isGlobal || isTopic ? "" : right), topics };
  const streams = new Map(isGlobal ? [] : [[level === "other stream" ? 1 : 0, streamRights]]);
  return { global: flags(RIGHTS.global, isGlobal ? right : ""), streams } as unknown as Permissions;
}

/** Flags named as the codec names them, one of them set. */
function flags(rights: readonly string[], set: string): Record<string, boolean> {
  const nameOf = (right: string) => right.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(rights.map((right) => [nameOf(right), right === set]));
}

/** A body for a command that has none of its own. */
export function bodyOf(name: CommandName): Uint8Array {
  return BODIES[name] ?? EMPTY;
}
