import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreateConsumerGroup,
  encodeDeleteConsumerGroup,
  encodeGetConsumerOffset,
  encodePurgeTopic,
  PARTITION_NOT_OWNED,
  toIdentifier,
} from "@millrace/protocol";
import type { TestClient } from "../testing/test-client.ts";
import {
  commit,
  createGroup,
  details,
  forget,
  GROUP,
  join,
  leave,
  pollable,
  pollGroup,
  sendTo,
  stored,
  sync,
} from "../testing/test-groups.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../testing/test-server.ts";

async function started(partitionsCount: number, options: TestServerOptions = {}) {
  const server = await TestServer.start(options);
  const first = await server.login(1n);
  await createGroup(first, partitionsCount);
  const second = await server.login(2n);
  await join(first);
  return { server, first, second };
}

/** Partition 0 of the topic. */
const groupOf = (server: TestServer) => server.groupOf(0);
const pause = ({ platform }: TestServer) =>
  new Promise<void>((done) => void platform.clock.setTimer(1, done));
const offsets = async (client: TestClient, partitionId: number) =>
  (await pollGroup(client, partitionId)).messages.map(({ offset }) => offset);

test("A partition with uncommitted messages moves when its owner has committed them, and not before.", async () => {
  const { server, first, second } = await started(2);
  for (const partitionId of [0, 1]) {
    await sendTo(first, partitionId, 100);
    assert.equal((await pollGroup(first, partitionId)).messages.length, 100);
  }
  await join(second);
  const generation = (await sync(second))?.generation ?? 0;
  assert.deepEqual([await pollable(first), await pollable(second)], [[0], []]);
  assert.deepEqual(
    (await details(first))?.members.map(({ partitions }) => partitions),
    [[0, 1], []],
    "it is owned by who gives it up",
  );
  assert.equal((await pollGroup(first, 1)).partitionId, PARTITION_NOT_OWNED, "and polled by nobody");
  assert.equal((await pollGroup(second, 1)).partitionId, PARTITION_NOT_OWNED);
  assert.equal(await commit(first, 1, 50), 0);
  assert.deepEqual(await pollable(second), []);
  assert.equal(await commit(first, 1, 99), 0);
  await server.platform.clock.run(1);
  assert.deepEqual([await pollable(first), await pollable(second)], [[0], [1]]);
  assert.equal((await sync(second))?.generation, generation + 1);
  assert.deepEqual(await offsets(second, 1), [], "nothing is read twice");
  assert.equal(await commit(first, 1, 99), ErrorCode.ResourceNotFound, "a former owner commits no more");
  assert.equal(await forget(first, 1), ErrorCode.ResourceNotFound);
  assert.equal(await commit(first, 0, 99), 0);
  await server.stop();
});

test("A partition that is not committed in time moves after 30 s, and what was not committed comes again.", async () => {
  const { server, first, second } = await started(2);
  await sendTo(first, 1, 10);
  assert.equal((await offsets(first, 1)).length, 10);
  assert.equal(await commit(first, 1, 3), 0);
  await join(second);
  await server.platform.clock.run(29_000);
  assert.deepEqual(await pollable(second), []);
  await server.platform.clock.run(1100);
  assert.deepEqual(await pollable(second), [1]);
  assert.deepEqual(await offsets(second, 1), [4, 5, 6, 7, 8, 9]);
  assert.equal(await commit(first, 1, 9), ErrorCode.ResourceNotFound);
  await server.stop();
});

test("How long a hand-over may take is configured.", async () => {
  const { server, first, second } = await started(2, { config: { rebalancingTimeoutMs: 200 } });
  await sendTo(first, 1, 1);
  await offsets(first, 1);
  await join(second);
  await server.platform.clock.run(150);
  assert.deepEqual(await pollable(second), []);
  await server.platform.clock.run(100);
  assert.deepEqual(await pollable(second), [1]);
  await server.stop();
});

test("Without uncommitted messages a partition moves at once, whatever an earlier owner left.", async () => {
  const { server, first, second } = await started(2);
  const gone = await server.login(9n);
  await sendTo(first, 1, 5);
  await join(gone);
  assert.equal((await offsets(gone, 1)).length, 5);
  await leave(gone);
  await join(second);
  assert.deepEqual([await pollable(first), await pollable(second)], [[0], [1]]);
  assert.deepEqual(await offsets(second, 1), [0, 1, 2, 3, 4], "what was not committed comes again");
  await server.stop();
});

test("Auto-commit stores for the group, goes on in the next poll, and ends a hand-over.", async () => {
  const { server, first, second } = await started(2);
  await sendTo(first, 1, 6);
  const auto = { autoCommit: true, count: 2 };
  assert.deepEqual(
    (await pollGroup(first, 1, auto)).messages.map(({ offset }) => offset),
    [0, 1],
  );
  assert.deepEqual(
    (await pollGroup(first, 1, auto)).messages.map(({ offset }) => offset),
    [2, 3],
  );
  assert.equal(await stored(second, 1), 3);
  await join(second);
  assert.deepEqual(await pollable(second), [1]);
  assert.deepEqual(await offsets(second, 1), [4, 5]);
  await server.stop();
});

test("Only who owns a named partition writes offsets; anybody reads them; groups that are missing answer 5000.", async () => {
  const { server, first, second } = await started(1);
  await sendTo(first, 0, 3);
  const no = ErrorCode.ResourceNotFound;
  assert.equal(await commit(second, 0, 1), no);
  assert.equal(await commit(first, undefined, 1), no);
  assert.equal(await commit(first, 7, 1), no);
  assert.equal(await forget(first, 0), ErrorCode.ConsumerOffsetNotFound);
  assert.equal(await commit(first, 0, 3), ErrorCode.InvalidOffset);
  assert.equal(await commit(first, 0, 1), 0);
  assert.equal(await stored(second, 0), 1);
  assert.equal(await forget(second, 0), no);
  assert.equal(await forget(first, 0), 0);
  assert.equal(await stored(second, 0), undefined);
  const lost = { ...GROUP, consumer: { kind: "group", id: toIdentifier("lost") }, partitionId: 0 } as const;
  const { code } = await first.command("GetConsumerOffset", encodeGetConsumerOffset(lost));
  assert.equal(code, ErrorCode.ConsumerGroupIdNotFound);
  await server.stop();
});

test("Offsets belong to the group: the next member goes on, a group created again starts afresh, plain consumers do not mix.", async () => {
  const { server, first, second } = await started(1);
  await sendTo(first, 0, 20);
  assert.equal(await commit(first, 0, 10), 0);
  await leave(first);
  await join(second);
  assert.equal((await offsets(second, 0))[0], 11);
  const plain = { consumer: { kind: "consumer", id: toIdentifier(0) }, strategy: { kind: "next" } } as const;
  const read = polled(await second.ok("PollMessages", pollBody(plain)));
  assert.equal(read.messages[0]?.offset, 0, "consumer 0 is not group 0");
  await first.ok("DeleteConsumerGroup", encodeDeleteConsumerGroup(GROUP));
  const partition = groupOf(server).partition;
  assert.deepEqual(partition?.consumerOffsetIds(2), [], "the offset of a deleted group is gone");
  await first.ok("CreateConsumerGroup", encodeCreateConsumerGroup({ ...GROUP, name: "g" }));
  await join(second);
  assert.equal((await offsets(second, 0))[0], 0);
  await server.stop();
});

test("A purge keeps members, clears offsets, and leaves nothing to hand over.", async () => {
  const { server, first, second } = await started(2);
  await sendTo(first, 1, 10);
  await offsets(first, 1);
  assert.equal(await commit(first, 1, 4), 0);
  await join(second);
  assert.deepEqual(await pollable(second), []);
  await first.ok("PurgeTopic", encodePurgeTopic(GROUP));
  await server.platform.clock.run(1);
  assert.deepEqual([await pollable(first), await pollable(second)], [[0], [1]]);
  assert.equal(await stored(first, 1), undefined);
  await sendTo(first, 1, 5);
  assert.equal((await offsets(second, 1)).length, 5, "five new messages, none of the old ones");
  await server.stop();
});

test("Whoever waits for a partition and leaves leaves it where it is; the owner who leaves frees it.", async () => {
  const { server, first, second } = await started(2);
  await sendTo(first, 1, 2);
  await offsets(first, 1);
  await join(second);
  await leave(second);
  assert.deepEqual(await pollable(first), [0, 1]);
  await join(second);
  assert.deepEqual(await pollable(second), []);
  first.close();
  await server.platform.clock.run(10);
  assert.deepEqual(await pollable(second), [0, 1]);
  await server.platform.clock.run(31_000);
  await second.ok("Ping");
  assert.deepEqual(await pollable(second), [0, 1], "an overtaken hand-over has no late effect");
  await server.stop();
});

test("A join that meets a running poll waits for its messages to be committed, whatever the disk takes.", async () => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const server = await TestServer.start({ seed, diskLatencyMaxMs: 3, config: { tailCacheLengthMax: 0 } });
    const first = await server.login(1n);
    const second = await server.login(2n);
    const scene = async () => {
      await createGroup(first, 2);
      await join(first);
      await sendTo(first, 1, 8);
      const [mine] = await Promise.all([pollGroup(first, 1, { count: 5 }), join(second)]);
      const isMine = mine.messages.length > 0;
      if (isMine) {
        assert.deepEqual(await pollable(second), [], "what was given out is waited for");
        assert.equal(await commit(first, 1, 4), 0);
      }
      while ((await pollable(second)).length === 0) await pause(server);
      const theirs = await pollGroup(second, 1);
      assert.equal(theirs.messages[0]?.offset, isMine ? 5 : 0);
    };
    await server.drive(scene());
    await server.stop();
  }
});

test("The group's offsets are the same after a stop and after a kill; members that do not come back lose their share.", async () => {
  for (const end of ["stop", "kill"] as const) {
    const { server: before, first, second } = await started(2);
    await sendTo(first, 0, 100);
    await sendTo(first, 1, 100);
    assert.equal(await commit(first, 0, 42), 0);
    await join(second);
    assert.equal(await commit(second, 1, 17), 0);
    const disk = end === "stop" ? await before.stop() : before.kill();
    const server = await TestServer.start({ disk });
    const back = await server.login(1n);
    back.nextNumber = 100n;
    assert.equal(await stored(back, 0), 42);
    assert.equal(await stored(back, 1), 17);
    await join(back);
    for (let seconds = 0; seconds < 40; seconds += 5) {
      await back.ok("Ping");
      await server.platform.clock.run(5000);
    }
    assert.deepEqual(await pollable(back), [0, 1]);
    assert.equal((await offsets(back, 1))[0], 18);
    await server.stop();
  }
});

test("A hand-over that a kill interrupted gets its full time again.", async () => {
  const { server: before, first, second } = await started(2);
  await sendTo(first, 1, 3);
  await offsets(first, 1);
  await join(second);
  const server = await TestServer.start({ disk: before.kill() });
  const [owner, waiting] = [await server.login(1n), await server.login(2n)];
  assert.deepEqual([await pollable(owner), await pollable(waiting)], [[0], []]);
  await server.platform.clock.run(20_000);
  await owner.ok("Ping");
  assert.deepEqual(await pollable(waiting), []);
  await server.platform.clock.run(11_000);
  assert.deepEqual(await pollable(waiting), [1]);
  await server.stop();
});

test("What a stop left of a deleted group is removed at the next start.", async () => {
  const { server: before, first } = await started(1);
  await sendTo(first, 0, 3);
  assert.equal(await commit(first, 0, 1), 0);
  const partition = groupOf(before);
  await first.ok("DeleteConsumerGroup", encodeDeleteConsumerGroup(GROUP));
  const body = Uint8Array.of(2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0);
  await new Promise<void>((resolve, reject) =>
    partition?.submit({
      operation: 161,
      client: 1n,
      request: 9n,
      user: 0,
      body,
      committed: () => resolve(),
      failed: reject,
    }),
  );
  assert.deepEqual(partition?.partition?.consumerOffsetIds(2), [0]);
  const server = await TestServer.start({ disk: before.kill() });
  await server.platform.clock.run(10);
  const recovered = groupOf(server);
  assert.deepEqual(recovered?.partition?.consumerOffsetIds(2), []);
  await server.stop();
});
