import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { decodeRequestHeader } from "@millrace/framing";
import { EvictionReason, Operation } from "@millrace/protocol";
import { type CapturedFrame, capturedFrames, fromHex } from "@millrace/testkit";
import type { Answer, TestClient } from "./testing/test-client.ts";
import { TestServer } from "./testing/test-server.ts";

/** Replies may name the operation that was executed instead of the one asked for. */
const EXECUTED: Readonly<Record<number, number>> = {
  [Operation.CreateTopic]: Operation.CreateTopicWithAssignments,
  [Operation.DeleteSegments]: Operation.TruncatePartition,
};

/** The code of frames whose answer does not depend on those before them. */
const CODES: Readonly<Record<string, number>> = {
  flush_unsaved_buffers: ErrorCode.FeatureUnavailable,
  raw_unknown_60000: ErrorCode.InvalidCommand,
  get_user: 0,
  get_users: 0,
  get_tokens: 0,
  create_user: 0,
  update_user: 0,
  change_password: 0,
  update_permissions: 0,
  delete_user: 0,
  create_token: 0,
  delete_token: 0,
};

async function replay(client: TestClient, captured: CapturedFrame): Promise<Answer> {
  const frame = fromHex(captured.hex);
  const answer = await client.exchange(frame);
  const { client: clientId, request } = decodeRequestHeader(frame);
  if (answer.eviction !== undefined) {
    assert.equal(answer.eviction.client, clientId, captured.name);
    return answer;
  }
  assert.equal(answer.header.request, request, `${captured.name} echoes the request number`);
  const { operation } = captured;
  assert.ok(
    [operation, EXECUTED[operation]].includes(answer.header.operation),
    `${captured.name} echoes the operation`,
  );
  if (answer.header.status !== 0) assert.equal(answer.header.length, 256, `${captured.name} has no body`);
  return answer;
}

test("Every frame recorded from the official SDK gets exactly one reply that echoes its number and operation.", async () => {
  const server = await TestServer.start();
  let client = server.connect();
  for (const captured of capturedFrames()) {
    if (captured.name === "burst_1_ping") client = server.connect();
    const answer = await replay(client, captured);
    const wanted = CODES[captured.name];
    if (wanted !== undefined) assert.equal(answer.code, wanted, captured.name);
    if (captured.name === "token_login_2_register") {
      assert.equal(answer.eviction?.reason, EvictionReason.InvalidToken);
      client = server.connect();
    } else assert.equal(answer.eviction, undefined, `${captured.name} is no reason for an eviction`);
    assert.deepEqual(client.unexpected, []);
  }
  await server.stop();
});

test("The SDK's main sequence succeeds: login, roster, stream, topic with options, send, poll.", async () => {
  const server = await TestServer.start();
  const client = server.connect();
  const names = [
    "ping_before_login",
    "login_register_password",
    "get_cluster_metadata_after_login",
    "create_stream",
    "create_topic_defaults",
    "get_topic",
    "send_2_messages_fixed",
    "poll_first",
    "get_stats",
    "describe_options_topic",
    "delete_topic",
    "delete_stream",
  ];
  const frames = new Map(capturedFrames().map((one) => [one.name, one]));
  for (const name of names) {
    const captured = frames.get(name);
    assert.ok(captured, name);
    assert.equal((await replay(client, captured)).code, 0, name);
  }
  await server.stop();
});
