import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  type CommandName,
  decodeSendMessagesReply,
  encodeCreatePartitions,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteTopic,
  encodeUpdatePermissions,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { oneRight } from "../testing/rights-fixture.ts";
import { sendBody } from "../testing/test-batches.ts";
import { TestServer } from "../testing/test-server.ts";
import { createUser, PASSWORD } from "../testing/test-users.ts";

const TOPIC = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
const [STREAM_ID, TOPIC_ID] = [toIdentifier(0), toIdentifier(0)];

/** A server with stream 0 and topic 0 and a user who may send everything. */
async function started() {
  const server = await TestServer.start();
  const root = await server.login();
  const asRoot = (name: CommandName, body: Uint8Array) => server.drive(root.ok(name, body));
  await asRoot("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  await asRoot("CreateTopic", encodeCreateTopic(TOPIC));
  await server.drive(createUser(root, "alice", { permissions: oneRight("global", "send_messages") }));
  const alice = server.connect();
  await server.drive(alice.login({ client: 9n, username: "alice", password: PASSWORD }));
  const send = async (...args: Parameters<typeof sendBody>) => {
    const answer = await alice.command("SendMessages", sendBody(...args));
    return answer.code === 0
      ? decodeSendMessagesReply(answer.payload)[0]?.baseOffset
      : { refused: answer.code };
  };
  return { server, asRoot, send };
}

test("A send that names the same target as the last one finds it, whatever is in the batch.", async () => {
  const { server, send } = await started();
  assert.deepEqual([await send(["a"]), await send(["b", "c"]), await send(["d"])], [0, 1, 3]);
  assert.deepEqual(await send(["e"], { messagesCount: 2 }), { refused: ErrorCode.InvalidCommand });
  assert.equal(await send(["e"], { topic: "t" }), 4);
  assert.equal(await send(["f"], { topic: "t" }), 5);
  await server.stop();
});

test("A send does not reach a topic that went away, and reaches the one that came in its place.", async () => {
  const { server, asRoot, send } = await started();
  assert.deepEqual([await send(["a"]), await send(["b"])], [0, 1]);
  await asRoot("DeleteTopic", encodeDeleteTopic({ stream: STREAM_ID, topic: TOPIC_ID }));
  assert.deepEqual(await send(["c"]), { refused: ErrorCode.ResourceNotFound });
  await asRoot("CreateTopic", encodeCreateTopic(TOPIC));
  assert.deepEqual([await send(["d"]), await send(["e"])], [0, 1]);
  await server.stop();
});

test("A send is refused from the moment on when the right to it is gone.", async () => {
  const { server, asRoot, send } = await started();
  assert.deepEqual([await send(["a"]), await send(["b"])], [0, 1]);
  const gone = encodeUpdatePermissions({ user: toIdentifier("alice"), permissions: undefined });
  await asRoot("UpdatePermissions", gone);
  assert.deepEqual(await send(["c"]), { refused: ErrorCode.Unauthorized });
  await server.stop();
});

test("A send without a stated partition takes turns over the partitions there are then.", async () => {
  const { server, asRoot, send } = await started();
  const balanced = { partitioning: { kind: "balanced" } } as const;
  assert.deepEqual([await send(["a"], balanced), await send(["b"], balanced)], [0, 1]);
  const two = { stream: STREAM_ID, topic: TOPIC_ID, partitionsCount: 1 };
  await asRoot("CreatePartitions", encodeCreatePartitions(two));
  const offsets = [await send(["c"], balanced), await send(["d"], balanced)];
  assert.deepEqual(offsets.toSorted(), [0, 2]);
  await server.stop();
});
