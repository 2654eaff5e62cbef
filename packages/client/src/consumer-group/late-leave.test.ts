import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeSyncConsumerGroupReply } from "@millrace/protocol";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTime } from "../testing/fake-time.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";

const REQUEST_TIMEOUT_MS = 1000;
const GROUP = { stream: "s", topic: "t", group: "g", pollIntervalMs: 1 };

/** A server that still knows the client as the member it was, after a connection that was lost too. */
async function setUp() {
  const [server, topic, time] = [new FakeServer(), new FakeTopic(1), new FakeTime()];
  const parts = { isMember: false, isSilent: false };
  server.script = (request) => {
    const { command } = request;
    if (parts.isSilent) return true;
    if (command === "JoinConsumerGroup") parts.isMember = true;
    else if (command === "LeaveConsumerGroup") parts.isMember = false;
    else if (command === "SyncConsumerGroup" && parts.isMember) {
      request.succeed(encodeSyncConsumerGroupReply({ generation: 1, partitions: [0] }));
      return true;
    } else return topic.script(request);
    request.succeed();
    return true;
  };
  const options = { platform: time.on(server.platform), requestTimeoutMs: REQUEST_TIMEOUT_MS };
  const client = await time.until(server.connect(options));
  const open = () => {
    const consumer = client.consumerGroup(GROUP);
    const running = consumer.run(() => {});
    running.catch(() => {});
    return { consumer, close: () => time.until(Promise.all([consumer.close(), running])) };
  };
  return { server, time, parts, client, open };
}
type Setting = Awaited<ReturnType<typeof setUp>>;

/** A member that leaves while there is no connection, for longer than its leave may take. */
async function leaveInVain({ server, time, parts, open }: Setting) {
  const first = open();
  await time.pass(100);
  parts.isSilent = true;
  server.cut();
  await time.pass(10);
  await first.close();
}

test("a leave that waits for the connection is dropped when the client uses the group again", async () => {
  for (const isBeforeItsEnd of [true, false]) {
    const setting = await setUp();
    const { server, time, parts, client, open } = setting;
    await leaveInVain(setting);
    if (!isBeforeItsEnd) await time.pass(2 * REQUEST_TIMEOUT_MS);
    const second = open();
    if (isBeforeItsEnd) await time.pass(2 * REQUEST_TIMEOUT_MS);
    parts.isSilent = false;
    await time.pass(10 * REQUEST_TIMEOUT_MS);
    assert.deepEqual(server.received("LeaveConsumerGroup"), []);
    assert.deepEqual(second.consumer.partitions, [0]);
    await second.close();
    assert.equal(parts.isMember, false, "the newer one leaves, which was a member without a join of its own");
    await time.until(client.close());
  }
});

test("a consumer that never reached the server leaves for the one before it", async () => {
  const setting = await setUp();
  const { time, parts, client, open } = setting;
  await leaveInVain(setting);
  const second = open();
  await time.pass(10);
  await second.close();
  await time.pass(2 * REQUEST_TIMEOUT_MS);
  assert.equal(parts.isMember, true);
  parts.isSilent = false;
  await time.pass(10 * REQUEST_TIMEOUT_MS);
  assert.equal(parts.isMember, false);
  await time.until(client.close());
});

test("a consumer that finds its client to be a member leaves when it is closed", async () => {
  const { server, time, parts, client, open } = await setUp();
  await time.until(client.joinConsumerGroup(GROUP));
  const { close } = open();
  await time.pass(100);
  await close();
  assert.equal(server.received("JoinConsumerGroup").length, 1);
  assert.equal(parts.isMember, false);
  await time.until(client.close());
});
