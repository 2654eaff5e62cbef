import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  type CommandName,
  encodeCreateConsumerGroup,
  encodeCreatePartitions,
  encodeCreateTopic,
  encodeDeleteConsumerGroup,
  encodeDeleteConsumerOffset,
  encodeDeletePartitions,
  encodeDeleteSegments,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodeDeleteUser,
  encodeGetClient,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
  encodeGetConsumerOffset,
  encodeGetStream,
  encodeGetTopic,
  encodeGetTopicRetention,
  encodeGetTopics,
  encodeGetUser,
  encodeJoinConsumerGroup,
  encodeLeaveConsumerGroup,
  encodePurgeStream,
  encodePurgeTopic,
  encodeRepairPartition,
  encodeStoreConsumerOffset,
  encodeUpdatePermissions,
  encodeUpdateStream,
  encodeUpdateTopic,
  encodeUpdateUser,
  encodeVerifyPartition,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { changePasswordBody, PASSWORD, restore, userBody } from "../testing/rights-fixture.ts";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

/** What stands for "none" where a read names something that is not there: success without a body. */
const NONE = 0;

const { StreamIdNotFound, TopicIdNotFound, PartitionNotFound } = ErrorCode;
const { ConsumerGroupIdNotFound, ResourceNotFound } = ErrorCode;

const here = { stream: toIdentifier(0), topic: toIdentifier(0) };
const noStream = { stream: toIdentifier("none"), topic: toIdentifier(0) };
const noTopic = { stream: toIdentifier(0), topic: toIdentifier("none") };
const noUser = toIdentifier("none");
const noGroup = { ...here, group: toIdentifier("none") };
const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
const groupConsumer = { kind: "group", id: toIdentifier("none") } as const;
const named = { name: "new", options: NO_OPTIONS };
const from = { segment: 0, opsPosition: 0, logPosition: 0 };

type Target = typeof here;
type Row = readonly [command: CommandName, body: Uint8Array, code: number];

/** Both levels above a command of a topic. */
function topicRows(command: CommandName, encode: (target: Target) => Uint8Array): Row[] {
  return [
    [command, encode(noStream), StreamIdNotFound],
    [command, encode(noTopic), TopicIdNotFound],
  ];
}

/** The same and a partition that is not there. */
function partitionRows(
  command: CommandName,
  encode: (target: Target & { partitionId: number }) => Uint8Array,
): Row[] {
  return [
    ...topicRows(command, (target) => encode({ ...target, partitionId: 0 })),
    [command, encode({ ...here, partitionId: 9 }), PartitionNotFound],
  ];
}

/** The same and a group that is not there. */
function groupRows(
  command: CommandName,
  encode: (target: typeof noGroup) => Uint8Array,
  code: number = ConsumerGroupIdNotFound,
): Row[] {
  return [
    ...topicRows(command, (target) => encode({ ...target, group: noGroup.group })),
    [command, encode(noGroup), code],
  ];
}

/** Writes of offsets name their target as one thing, and so do sends. */
function asOneThing(rows: readonly Row[]): Row[] {
  return rows.map(([command, body]) => [command, body, ResourceNotFound]);
}

const stored = { offset: 0n, ack: "quorum" } as const;
const ofGroup = { ...here, consumer: groupConsumer, partitionId: 0 };

/** @see wire-protocol sections 4 and 4.1 */
const ROWS: readonly Row[] = [
  ["GetUser", encodeGetUser({ user: noUser }), NONE],
  ["DeleteUser", encodeDeleteUser({ user: noUser }), ResourceNotFound],
  [
    "UpdateUser",
    encodeUpdateUser({ user: noUser, username: undefined, status: "active", options: NO_OPTIONS }),
    ResourceNotFound,
  ],
  ["UpdatePermissions", encodeUpdatePermissions({ user: noUser, permissions: undefined }), ResourceNotFound],
  ["ChangePassword", changePasswordBody("none"), ResourceNotFound],
  ["GetClient", encodeGetClient({ clientId: 4_000_000_000 }), NONE],
  ["GetStream", encodeGetStream(noStream), NONE],
  ["UpdateStream", encodeUpdateStream({ ...noStream, ...named }), StreamIdNotFound],
  ["DeleteStream", encodeDeleteStream(noStream), StreamIdNotFound],
  ["PurgeStream", encodePurgeStream(noStream), StreamIdNotFound],
  ["GetTopic", encodeGetTopic(noStream), NONE],
  ["GetTopic", encodeGetTopic(noTopic), NONE],
  ["GetTopics", encodeGetTopics(noStream), NONE],
  ["CreateTopic", encodeCreateTopic({ ...noStream, ...named, partitionsCount: 1 }), StreamIdNotFound],
  ...topicRows("UpdateTopic", (target) => encodeUpdateTopic({ ...target, ...named })),
  ...topicRows("DeleteTopic", encodeDeleteTopic),
  ...topicRows("PurgeTopic", encodePurgeTopic),
  ...topicRows("GetTopicRetention", (target) =>
    encodeGetTopicRetention({ ...target, firstPartitionId: 0, partitionsCount: 1 }),
  ),
  ...topicRows("CreatePartitions", (target) => encodeCreatePartitions({ ...target, partitionsCount: 1 })),
  ...topicRows("DeletePartitions", (target) => encodeDeletePartitions({ ...target, partitionsCount: 1 })),
  ...partitionRows("DeleteSegments", (target) => encodeDeleteSegments({ ...target, segmentsCount: 1 })),
  ...partitionRows("VerifyPartition", (target) => encodeVerifyPartition({ ...target, lengthMax: 0, from })),
  ...partitionRows("RepairPartition", (target) => encodeRepairPartition({ ...target, offsets: "proven" })),
  ...partitionRows("PollMessages", pollBody),
  ["SendMessages", sendBody(["x"], { stream: "none" }), ResourceNotFound],
  ["SendMessages", sendBody(["x"], { topic: "none" }), ResourceNotFound],
  [
    "SendMessages",
    sendBody(["x"], { partitioning: { kind: "partition", partitionId: 9 } }),
    ResourceNotFound,
  ],
  ...partitionRows("GetConsumerOffset", (target) => encodeGetConsumerOffset({ ...target, consumer })),
  ...asOneThing(
    partitionRows("StoreConsumerOffset", (target) =>
      encodeStoreConsumerOffset({ ...target, ...stored, consumer }),
    ),
  ),
  ...asOneThing(
    partitionRows("DeleteConsumerOffset", (target) =>
      encodeDeleteConsumerOffset({ ...target, consumer, ack: "quorum" }),
    ),
  ),
  ["GetConsumerOffset", encodeGetConsumerOffset(ofGroup), ConsumerGroupIdNotFound],
  ["StoreConsumerOffset", encodeStoreConsumerOffset({ ...ofGroup, ...stored }), ConsumerGroupIdNotFound],
  [
    "DeleteConsumerOffset",
    encodeDeleteConsumerOffset({ ...ofGroup, ack: "quorum" }),
    ConsumerGroupIdNotFound,
  ],
  ...topicRows("GetConsumerGroups", encodeGetConsumerGroups),
  ...topicRows("CreateConsumerGroup", (target) => encodeCreateConsumerGroup({ ...target, name: "new" })),
  ...groupRows("GetConsumerGroup", encodeGetConsumerGroup, NONE),
  ...groupRows("DeleteConsumerGroup", encodeDeleteConsumerGroup),
  ...groupRows("JoinConsumerGroup", encodeJoinConsumerGroup),
  ...groupRows("LeaveConsumerGroup", encodeLeaveConsumerGroup),
];

let server: TestServer;
let root: TestClient;
let nobody: TestClient;

before(async () => {
  server = await TestServer.start();
  root = await server.login();
  await restore(root);
  await root.ok("CreateUser", userBody("nobody"));
  nobody = server.connect();
  const login = { client: 2n, username: "nobody", password: PASSWORD };
  assert.equal((await nobody.login(login)).code, 0);
});

after(() => server.stop());

test("What is missing is told by its level, to root and to who has no right at all.", async () => {
  for (const [command, body, code] of ROWS) {
    for (const client of [root, nobody]) {
      const answer = await client.command(command, body);
      assert.equal(answer.code, code, `${command} for ${client === root ? "root" : "nobody"}`);
    }
  }
});
