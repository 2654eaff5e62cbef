import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { status } from "@grpc/grpc-js";
import { ErrorCode } from "@millrace/errors";
import { GrpcUnderTest } from "../testing/grpc-under-test.ts";

const TOPIC = { stream: { name: "s" }, topic: { name: "t" } };
const GROUP = { ...TOPIC, group: { name: "g" } };

describe("Unary calls of a stock client", { timeout: 60_000 }, () => {
  let server: GrpcUnderTest;
  before(async () => {
    server = await GrpcUnderTest.start();
    await server.login();
    await server.makeTopic(2);
  });
  after(() => server.stop());

  it("create, show, change and delete users with permissions of three levels", async () => {
    const topics = { 9: { poll_messages: true } };
    const permissions = { global: { read_streams: true }, streams: { 7: { manage_stream: true, topics } } };
    const request = { username: "ann", password: "first-pw", permissions };
    const made = await server.call("CreateUser", request);
    assert.deepEqual([made.user.username, made.user.status], ["ann", "USER_STATUS_ACTIVE"]);
    assert.deepEqual(await server.call("GetUser", { user: { id: made.user.id } }), made);
    const { global, streams } = made.permissions;
    assert.deepEqual([global.read_streams, global.manage_users], [true, false]);
    assert.deepEqual([streams[7].manage_stream, streams[7].topics[9].poll_messages], [true, true]);
    const user = { user: { name: "ann" } };
    const passwords = { current_password: "first-pw", new_password: "second-pw" };
    await server.call("ChangePassword", { ...user, ...passwords });
    const ann = await server.call("Login", { username: "ann", password: "second-pw" });
    assert.equal((await server.call("ListStreams", {}, { token: ann.token })).streams.length, 1);
    const refused = await server.refusal("ListUsers", {}, { token: ann.token });
    assert.deepEqual([refused.status, refused.code], [status.PERMISSION_DENIED, ErrorCode.Unauthorized]);
    await server.call("UpdatePermissions", user);
    const denied = await server.refusal("ListStreams", {}, { token: ann.token });
    assert.equal(denied.code, ErrorCode.Unauthorized, "no permissions are left");
    await server.call("UpdateUser", { ...user, username: "anna", status: "USER_STATUS_INACTIVE" });
    const { users } = await server.call("ListUsers");
    const shown = users.map((one: { username: string; status: string }) => [one.username, one.status]);
    assert.deepEqual(shown, [
      ["iggy", "USER_STATUS_ACTIVE"],
      ["anna", "USER_STATUS_INACTIVE"],
    ]);
    await server.call("DeleteUser", { user: { name: "anna" } });
    const gone = await server.refusal("GetUser", { user: { name: "anna" } });
    assert.deepEqual([gone.status, gone.code], [status.NOT_FOUND, ErrorCode.ResourceNotFound]);
    const wrong = await server.refusal("CreateUser", { ...request, username: "bob", status: 9 });
    assert.equal(wrong.code, ErrorCode.InvalidUserStatus);
  });

  it("create personal access tokens, which log in, list and delete them", async () => {
    const { token } = await server.call("CreatePersonalAccessToken", {
      name: "ci-token",
      expiry: 3_600_000_000,
    });
    assert.ok((await server.call("ListStreams", {}, { token })).streams.length > 0);
    const { tokens } = await server.call("ListPersonalAccessTokens");
    assert.equal(tokens[0].name, "ci-token");
    assert.ok(BigInt(tokens[0].expiry_at) > 0n);
    await server.call("DeletePersonalAccessToken", { name: "ci-token" });
    assert.deepEqual((await server.call("ListPersonalAccessTokens")).tokens, []);
    const empty = await server.refusal("CreatePersonalAccessToken", { name: "" });
    assert.equal(empty.code, ErrorCode.InvalidPersonalAccessTokenName);
  });

  it("show the session, all clients, the nodes, the options, and a snapshot", async () => {
    const me = await server.call("GetMe");
    assert.equal(me.client.user_id, 0);
    assert.deepEqual(await server.call("GetClient", { id: me.client.id }), me);
    const { clients } = await server.call("ListClients");
    assert.ok(clients.some(({ id }: { id: number }) => id === me.client.id));
    assert.equal((await server.refusal("GetClient", { id: 4_000_000_000 })).code, ErrorCode.ClientNotFound);
    const { nodes } = await server.call("GetClusterMetadata");
    assert.deepEqual([nodes[0].role, nodes[0].status], ["leader", "healthy"]);
    const { options } = await server.call("DescribeOptions", { scope: "OPTION_SCOPE_TOPIC" });
    const size = options.find(({ key }: { key: string }) => key === "segment_size");
    assert.equal(size.default_value.kind, "VALUE_KIND_UINT64");
    assert.equal((await server.refusal("DescribeOptions")).code, ErrorCode.InvalidCommand);
    const { zip } = await server.call("GetSnapshot", { types: ["resourceUsage"] });
    assert.equal(zip.subarray(0, 2).toString(), "PK");
    assert.equal((await server.refusal("GetSnapshot", { types: ["moon"] })).code, ErrorCode.InvalidCommand);
    await server.call("DeleteSegments", { ...TOPIC, partition_id: 0, segments_count: 1 });
  });

  it("make the session of a token a member that polls for its group and shares with another", async () => {
    await server.call("CreateConsumerGroup", { ...TOPIC, name: "g" });
    for (const partition_id of [0, 1]) {
      const messages = [{ payload: Buffer.from(`in ${partition_id}`) }];
      await server.call("SendMessages", { ...TOPIC, partition_id, messages });
    }
    assert.equal((await server.call("SyncConsumerGroup", GROUP)).is_member, false);
    await server.call("JoinConsumerGroup", GROUP);
    const alone = await server.call("SyncConsumerGroup", GROUP);
    assert.deepEqual([alone.is_member, alone.partitions], [true, [0, 1]]);
    const next = { ...GROUP, partition_id: 1, next: {}, auto_commit: true };
    const polled = await server.call("PollMessages", next);
    assert.equal(polled.messages[0].payload.toString(), "in 1");
    const place = { ...GROUP, partition_id: 1 };
    assert.equal((await server.call("GetConsumerOffset", place)).stored_offset, "0");
    const { token } = await server.call("Login", { username: "iggy", password: "iggy" });
    await server.call("JoinConsumerGroup", GROUP, { token });
    const { group, members } = await server.call("GetConsumerGroup", GROUP);
    assert.deepEqual([group.members_count, members.length], [2, 2]);
    await server.call("LeaveConsumerGroup", GROUP, { token });
    assert.equal((await server.call("GetConsumerGroup", GROUP)).group.members_count, 1);
    const both = { ...place, consumer: { id: 1 } };
    assert.equal((await server.refusal("PollMessages", both)).code, ErrorCode.InvalidCommand);
  });
});
