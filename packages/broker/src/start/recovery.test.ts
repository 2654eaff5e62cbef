import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import { type SimClock, type SimDisk, SimRandom } from "@millrace/platform/sim";
import {
  COMMAND_OPERATIONS,
  decodeGetStreamsReply,
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteSegments,
  encodeDeleteTopic,
  encodePurgeTopic,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  Operation,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const target = { stream: toIdentifier(0), topic: toIdentifier(0) };

async function createTopic(client: TestClient, options: OptionEntries = NO_OPTIONS) {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
}

async function textsOf(client: TestClient): Promise<string[]> {
  const { messages } = polled(await client.ok("PollMessages", pollBody()));
  return messages.map(({ text }) => text);
}

async function restarted(disk: SimDisk, clock?: SimClock) {
  const server = await TestServer.start({ disk, ...(clock === undefined ? {} : { clock }) });
  return { server, client: await server.login(9n) };
}

test("What was answered is there after a stop and after a kill: catalog, messages, offsets.", async () => {
  for (const end of ["stop", "kill"] as const) {
    const before = await TestServer.start();
    const client = await before.login();
    await createTopic(client);
    await client.ok("SendMessages", sendBody(["a", "b"]));
    const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
    const offset = { ...target, consumer, partitionId: 0, offset: 0n, ack: "quorum" } as const;
    await client.ok("StoreConsumerOffset", encodeStoreConsumerOffset(offset));
    const { server, client: after } = await restarted(end === "stop" ? await before.stop() : before.kill());
    assert.deepEqual(await textsOf(after), ["a", "b"]);
    const next = polled(await after.ok("PollMessages", pollBody({ strategy: { kind: "next" } })));
    assert.deepEqual(
      next.messages.map(({ text }) => text),
      ["b"],
    );
    const [confirmation] = decodeSendMessagesReply(await after.ok("SendMessages", sendBody(["c"])));
    assert.equal(confirmation?.baseOffset, 2);
    await server.stop();
  }
});

test("On a persisted topic what was answered survives power loss, whatever else was on its way.", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const before = await TestServer.start({ seed, diskLatencyMaxMs: 2 });
    const client = await before.login();
    const persisted: OptionEntries = [{ key: "durability", value: typedField("string", "persisted") }];
    await before.drive(createTopic(client, persisted));
    const answered = new Map<number, string>();
    for (let index = 0; index < 60; index++) {
      const frame = client.frame(COMMAND_OPERATIONS.SendMessages, sendBody([`m${index}`]), { request: 7n });
      client.exchange(frame).then(
        ({ code, payload }) => {
          const baseOffset = decodeSendMessagesReply(payload)[0]?.baseOffset;
          if (code === 0 && baseOffset !== undefined) answered.set(baseOffset, `m${index}`);
        },
        () => undefined,
      );
    }
    await before.platform.clock.run(new SimRandom(seed).fraction() * 40);
    const { disk, clock } = before.platform;
    const { server, client: after } = await restarted(disk.crash(), clock);
    const { messages } = polled(await server.drive(after.ok("PollMessages", pollBody())));
    for (const [offset, text] of answered) assert.equal(messages[offset]?.text, text, `seed ${seed}`);
    await server.stop();
  }
});

test("Metadata comes back from a snapshot and the journal above it.", async () => {
  const before = await TestServer.start({ config: { snapshotEveryOps: 5 } });
  const client = await before.login();
  for (let index = 0; index < 23; index++) {
    await client.ok("CreateStream", encodeCreateStream({ name: `s${index}`, options: NO_OPTIONS }));
  }
  const files = await before.platform.disk.readDirectory("metadata");
  assert.ok(
    files.some(({ name }) => name.startsWith("snapshot")),
    files.map(({ name }) => name).join(),
  );
  const disk = before.kill();
  const server = await TestServer.start({ disk });
  const after = await server.login(2n);
  assert.equal(decodeGetStreamsReply(await after.ok("GetStreams")).length, 23);
  await server.stop();
});

test("A client that comes back under its id after a kill gets the stored reply to a repeated request.", async () => {
  const before = await TestServer.start();
  const client = await before.login(5n);
  const body = encodeCreateStream({ name: "once", options: NO_OPTIONS });
  const first = await client.exchange(client.frame(Operation.CreateStream, body));
  const { server } = await restarted(before.kill());
  const back = await server.login(5n);
  const repeated = await back.exchange(back.frame(Operation.CreateStream, body, { request: 1n }));
  assert.deepEqual(repeated.bytes, first.bytes);
  assert.equal(decodeGetStreamsReply(await back.ok("GetStreams")).length, 1);
  await server.stop();
});

test("A purge that a kill cut off before its partitions heard of it is finished at the next start.", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await createTopic(client);
  await client.ok("SendMessages", sendBody(["old"]));
  before.broker.shard.partitions.purge = () => new Promise(() => {});
  client.command("PurgeTopic", encodePurgeTopic(target)).catch(() => undefined);
  await before.platform.clock.run(20);
  const { server, client: after } = await restarted(before.kill());
  assert.deepEqual(await textsOf(after), []);
  await server.stop();
});

test("Folders of partitions that a committed op deleted go at the next start; those that are none stay.", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await createTopic(client);
  before.broker.shard.partitions.delete = () => Promise.resolve();
  await client.ok("DeleteTopic", encodeDeleteTopic(target));
  const disk = before.kill();
  const partitions = "streams/0/topics/0/partitions";
  assert.equal((await disk.readDirectory(partitions)).length, 1);
  for (const name of ["notes", "007-1"]) await disk.makeDirectory(`${partitions}/${name}`);
  const { server } = await restarted(disk);
  const left = await server.platform.disk.readDirectory(partitions);
  assert.deepEqual(
    left.map(({ name }) => name),
    ["007-1", "notes"],
  );
  await server.stop();
});

test("A partition whose creation the metadata has lost is kept aside, not deleted and not given to another.", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await createTopic(client);
  const disk = before.kill();
  const partitions = "streams/0/topics/0/partitions";
  const commit = before.broker.shard.metadata.commit;
  // The next op of a client that logs in is commit + 1, so a topic made then would get this very folder.
  const lost = `${partitions}/0-${commit + 2}`;
  await disk.makeDirectory(lost);
  await disk.writeWhole(`${lost}/00000000000000000000.log`, new Uint8Array(100));
  let { server, client: after } = await restarted(disk);
  await after.ok("DeleteTopic", encodeDeleteTopic(target));
  await after.ok(
    "CreateTopic",
    encodeCreateTopic({ ...target, name: "new", partitionsCount: 1, options: NO_OPTIONS }),
  );
  await after.ok("SendMessages", sendBody(["new"]));
  assert.deepEqual(await textsOf(after), ["new"]);
  ({ server, client: after } = await restarted(await server.stop()));
  const [kept] = await server.platform.disk.readDirectory("quarantine");
  assert.equal(kept?.name, `partition-0-0-0-${commit + 2}.at-${commit}`);
  const files = await server.platform.disk.readDirectory(`quarantine/${kept?.name}`);
  assert.deepEqual(
    files.map(({ name }) => name),
    ["00000000000000000000.log"],
  );
  await server.stop();
});

test("Segments are deleted from the oldest, not past a stored offset, and once for a repeated request.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await createTopic(client, [{ key: "segment_size", value: typedField("uint64", 1_048_576n) }]);
  for (let index = 0; index < 6; index++) await client.ok("SendMessages", sendBody(["x".repeat(600_000)]));
  const oldest = async () =>
    polled(await client.ok("PollMessages", pollBody({ count: 1 }))).messages[0]?.offset;
  const remove = (segmentsCount: number) =>
    encodeDeleteSegments({ ...target, partitionId: 0, segmentsCount });
  const frame = client.frame(Operation.DeleteSegments, remove(1));
  const first = await client.exchange(frame);
  assert.deepEqual([first.code, first.header.operation], [0, Operation.TruncatePartition]);
  assert.equal(await oldest(), 2, "a segment holds two of these batches");
  assert.deepEqual((await client.exchange(frame.slice())).bytes, first.bytes);
  assert.equal(await oldest(), 2, "a repeated request deletes nothing more");
  client.nextNumber += 1n;
  const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
  const offset = { ...target, consumer, partitionId: 0, offset: 2n, ack: "quorum" } as const;
  await client.ok("StoreConsumerOffset", encodeStoreConsumerOffset(offset));
  await client.ok("DeleteSegments", remove(99));
  assert.equal(await oldest(), 2, "a stored offset keeps what it has not passed");
  await client.ok("StoreConsumerOffset", encodeStoreConsumerOffset({ ...offset, offset: 3n }));
  await client.ok("DeleteSegments", remove(99));
  assert.equal(await oldest(), 4);
  const code = async (body: Uint8Array) => (await client.command("DeleteSegments", body)).code;
  assert.equal(await code(encodeDeleteSegments({ ...target, partitionId: 9, segmentsCount: 1 })), 3007);
  await server.stop();
});

test("A full disk refuses writes by its code, reads go on, and writes return with the space.", async () => {
  const server = await TestServer.start();
  const client = await server.login();
  await createTopic(client);
  await client.ok("SendMessages", sendBody(["kept"]));
  server.platform.disk.setSpace(0);
  assert.equal((await client.command("SendMessages", sendBody(["lost"]))).code, ErrorCode.DiskFull);
  assert.equal((await client.command("SendMessages", sendBody(["lost"]))).code, ErrorCode.DiskFull);
  const stream = encodeCreateStream({ name: "more", options: NO_OPTIONS });
  assert.equal((await client.command("CreateStream", stream)).code, ErrorCode.DiskFull);
  assert.deepEqual(await textsOf(client), ["kept"]);
  server.platform.disk.setSpace(2 ** 30);
  await server.platform.clock.run(1500);
  await client.command("SendMessages", sendBody(["wakes it"]));
  await server.platform.clock.run(10);
  const [confirmation] = decodeSendMessagesReply(await client.ok("SendMessages", sendBody(["again"])));
  assert.equal(confirmation?.baseOffset, 1);
  await client.ok("CreateStream", stream);
  assert.deepEqual(await textsOf(client), ["kept", "again"]);
  await server.stop();
});

test("A directory that another server uses is refused and not touched.", async () => {
  const first = await TestServer.start();
  await assert.rejects(TestServer.start({ disk: first.platform.disk }), (error: unknown) =>
    isCodedError(error, ErrorCode.DataDirectoryInUse),
  );
  const client = await first.login();
  await client.ok("GetStreams");
  await first.stop();
});

test("A damaged byte is answered with PartitionDamaged where it is, and everything around it is served.", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await createTopic(client, [{ key: "segment_size", value: typedField("uint64", 1_048_576n) }]);
  for (let index = 0; index < 4; index++)
    await client.ok("SendMessages", sendBody([`${index}`.repeat(600_000)]));
  const disk = await before.stop();
  const folder = "streams/0/topics/0/partitions";
  const [partition] = await disk.readDirectory(folder);
  const files = await disk.readDirectory(`${folder}/${partition?.name}`);
  const [log] = files.filter(({ name }) => name.endsWith(".log"));
  disk.flipBit(`${folder}/${partition?.name}/${log?.name}`, 8 * 700_000);
  const { server, client: after } = await restarted(disk);
  const poll = (offset: bigint) =>
    after.command("PollMessages", pollBody({ strategy: { kind: "offset", offset }, count: 1 }));
  assert.equal(polled((await poll(0n)).payload).messages[0]?.offset, 0);
  assert.equal((await poll(1n)).code, ErrorCode.PartitionDamaged);
  assert.equal(polled((await poll(2n)).payload).messages[0]?.offset, 2);
  const [confirmation] = decodeSendMessagesReply(await after.ok("SendMessages", sendBody(["on"])));
  assert.equal(confirmation?.baseOffset, 4, "writes go on");
  await server.stop();
});
