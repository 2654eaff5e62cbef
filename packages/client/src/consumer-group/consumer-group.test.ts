import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { SkippedFacts } from "../consumer/consumer-events.ts";
import type { ReceivedMessage } from "../messages/received-message.ts";
import { MillraceClient } from "../millrace-client.ts";
import { RealServer } from "../testing/real-server.test.ts";
import type { GroupConsumer, GroupConsumerOptions } from "./group-consumer.ts";
import type { StalledFacts } from "./group-events.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** A hand-over may take as long as the longest handler here, and not so long that a test waits for it. */
const server = new RealServer({ MILLRACE_CONSUMER_GROUP_REBALANCING_TIMEOUT: "3 s" });
let admin: MillraceClient;
const clients: MillraceClient[] = [];

before(async () => {
  await server.start();
  admin = await connect();
});
after(async () => {
  await Promise.allSettled(clients.map((client) => client.close()));
  await server.remove();
  assert.deepEqual(unhandled, [], "no promise was rejected without a handler");
});

async function connect(): Promise<MillraceClient> {
  const client = await MillraceClient.connect(
    `iggy://iggy:iggy@${server.address}?reconnection_interval=20ms`,
  );
  clients.push(client);
  return client;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);

async function until(condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    assert.ok(Date.now() < end, "what a test waits for happens in time");
    await pause(10);
  }
}

let topics = 0;
async function newTopic(partitionsCount: number) {
  topics += 1;
  const stream = `groups-${topics}`;
  await admin.createStream(stream);
  await admin.createTopic(stream, { name: "t", partitionsCount });
  return { stream, topic: "t", group: "g" };
}
type Place = Awaited<ReturnType<typeof newTopic>>;

async function send(place: Place, partitionId: number, from: number, to: number): Promise<void> {
  const messages = Array.from({ length: to - from }, (_, index) => ({
    payload: `${partitionId}:${from + index}`,
  }));
  await admin.sendMessages({ ...place, partitioning: { partition: partitionId }, messages });
}

/** One member: what it handled, in order, and how to end it. */
class Member {
  readonly seen: string[] = [];
  readonly consumer: GroupConsumer;
  readonly running: Promise<void>;
  readonly client: MillraceClient;

  constructor(
    client: MillraceClient,
    options: GroupConsumerOptions,
    handler: (message: ReceivedMessage) => void | Promise<void> = () => {},
  ) {
    this.client = client;
    this.consumer = client.consumerGroup({
      pollIntervalMs: 2,
      syncIntervalMs: 50,
      commitIntervalMs: 20,
      ...options,
    });
    this.running = this.consumer.run(async (message) => {
      await handler(message);
      this.seen.push(message.text());
    });
    this.running.catch(() => {});
  }

  partitions(): number[] {
    return [...this.consumer.partitions].sort((one, other) => one - other);
  }

  async close(): Promise<void> {
    await this.consumer.close();
    await this.running;
  }
}

const sorted = (...lists: readonly string[][]) => lists.flat().sort();
const texts = (partitions: number, count: number) =>
  Array.from(
    { length: partitions * count },
    (_, index) => `${Math.floor(index / count)}:${index % count}`,
  ).sort();

test("groups are created, shown, listed and deleted by call; joined, synced and left by hand", async () => {
  const place = await newTopic(2);
  const { stream, topic } = place;
  const created = await admin.createConsumerGroup(stream, topic, "g");
  assert.deepEqual(created, { id: 0, name: "g", partitionsCount: 2, membersCount: 0, members: [] });
  assert.deepEqual(await admin.getConsumerGroups(stream, topic), [
    { id: 0, name: "g", partitionsCount: 2, membersCount: 0 },
  ]);
  assert.equal(await admin.syncConsumerGroup(place), undefined);
  await admin.joinConsumerGroup(place);
  assert.deepEqual((await admin.syncConsumerGroup(place))?.partitions, [0, 1]);
  assert.deepEqual((await admin.getConsumerGroup(place))?.members, [{ id: 0, partitions: [0, 1] }]);
  assert.equal((await admin.getMe()).groupsCount, 1);
  await admin.leaveConsumerGroup(place);
  await assert.rejects(admin.leaveConsumerGroup(place), hasCode(ErrorCode.ConsumerGroupMemberNotFound));
  await admin.deleteConsumerGroup(place);
  await assert.rejects(admin.deleteConsumerGroup(place), hasCode(ErrorCode.ConsumerGroupIdNotFound));
  assert.equal(await admin.getConsumerGroup(place), undefined);
});

test("one member creates the group, reads every partition in order, and leaves with everything committed", async () => {
  const place = await newTopic(3);
  for (const partitionId of [0, 1, 2]) await send(place, partitionId, 0, 20);
  const member = new Member(await connect(), place);
  await until(() => member.seen.length === 60);
  for (const partitionId of [0, 1, 2]) {
    const own = member.seen.filter((text) => text.startsWith(`${partitionId}:`));
    assert.deepEqual(
      own,
      Array.from({ length: 20 }, (_, index) => `${partitionId}:${index}`),
    );
  }
  await member.close();
  assert.equal((await admin.getConsumerGroup(place))?.membersCount, 0);
  const offset = await admin.getConsumerOffset({ ...place, consumer: { group: "g" }, partitionId: 1 });
  assert.equal(offset?.storedOffset, 19n);
});

test("a group that does not exist is an error when it must not be created", async () => {
  const place = await newTopic(1);
  const consumer = (await connect()).consumerGroup({ ...place, createGroup: false });
  await assert.rejects(
    consumer.run(() => {}),
    hasCode(ErrorCode.ConsumerGroupIdNotFound),
  );
  const lost = (await connect()).consumerGroup({ ...place, topic: "lost" });
  await assert.rejects(
    lost.run(() => {}),
    hasCode(ErrorCode.TopicIdNotFound),
  );
});

test("a second member takes over what the first has committed; nothing is handled twice, nothing is missed", async () => {
  const place = await newTopic(4);
  const first = new Member(await connect(), { ...place, batchCountMax: 10 }, () => pause(1) as Promise<void>);
  for (let round = 0; round < 4; round += 1) {
    for (const partitionId of [0, 1, 2, 3]) await send(place, partitionId, round * 25, round * 25 + 25);
  }
  await until(() => first.seen.length > 20);
  const second = new Member(await connect(), place);
  await until(() => second.partitions().length === 2 && first.partitions().length === 2);
  const all = [...first.partitions(), ...second.partitions()].sort();
  assert.deepEqual(all, [0, 1, 2, 3]);
  await until(() => first.seen.length + second.seen.length >= 400);
  assert.deepEqual(sorted(first.seen, second.seen), texts(4, 100), "each message once");
  await first.close();
  await until(() => second.partitions().length === 4);
  for (const partitionId of [0, 1, 2, 3]) await send(place, partitionId, 100, 101);
  await until(() => second.seen.filter((text) => text.endsWith(":100")).length === 4);
  await second.close();
});

test("a partition that moves waits for its handler; the ones that stay are not disturbed", async () => {
  const place = await newTopic(2);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await send(place, 1, 0, 3);
  let isHeld = false;
  const first = new Member(await connect(), { ...place, commitIntervalMs: 60_000 }, (message) => {
    if (message.partitionId !== 1) return undefined;
    isHeld = true;
    return held;
  });
  await until(() => isHeld);
  const second = new Member(await connect(), place);
  await pause(300);
  assert.deepEqual(second.seen, [], "what another member works on is not handed out");
  letGo();
  await until(() => second.partitions().includes(1));
  await send(place, 0, 0, 2);
  await send(place, 1, 3, 5);
  await until(() => first.seen.length === 5 && second.seen.length === 2);
  assert.deepEqual(first.seen, ["1:0", "1:1", "1:2", "0:0", "0:1"]);
  assert.deepEqual(second.seen, ["1:3", "1:4"]);
  await Promise.all([first.close(), second.close()]);
});

test("a handler that takes longer than a hand-over may loses its partition, without an error and without going on", async () => {
  const place = await newTopic(2);
  await send(place, 1, 0, 4);
  let isHeld = false;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const first = new Member(await connect(), place, (message) => {
    if (message.partitionId !== 1) return undefined;
    isHeld = true;
    return held;
  });
  await until(() => isHeld);
  const second = new Member(await connect(), place);
  await until(() => second.seen.length === 4, 20_000);
  letGo();
  await until(() => first.seen.length === 1);
  await send(place, 0, 0, 1);
  await until(() => first.seen.length === 2);
  assert.deepEqual(first.seen, ["1:0", "0:0"], "the rest of the batch is left to the new owner");
  assert.deepEqual(second.seen, ["1:0", "1:1", "1:2", "1:3"]);
  await Promise.all([first.close(), second.close()]);
});

test("a member that dies leaves its share to the others, and what it had not committed comes again", async () => {
  const place = await newTopic(3);
  const survivors = [new Member(await connect(), place), new Member(await connect(), place)];
  const victim = new Member(
    await connect(),
    { ...place, commitIntervalMs: 60_000 },
    () => pause(5) as Promise<void>,
  );
  await until(
    () => victim.partitions().length === 1 && survivors.every((one) => one.partitions().length === 1),
  );
  for (const partitionId of [0, 1, 2]) await send(place, partitionId, 0, 30);
  await until(() => victim.seen.length > 2);
  const abort = victim.client.close();
  await until(() => survivors.flatMap((one) => one.partitions()).length === 3);
  await until(() => new Set(sorted(...survivors.map((one) => one.seen), victim.seen)).size === 90);
  await abort.catch(() => {});
  for (const one of survivors) await one.close();
});

test("more members than partitions: the surplus waits and steps in", async () => {
  const place = await newTopic(1);
  const members = [new Member(await connect(), place)];
  await until(() => members[0]?.partitions().length === 1);
  members.push(new Member(await connect(), place), new Member(await connect(), place));
  await until(async () => (await admin.getConsumerGroup(place))?.membersCount === 3);
  await send(place, 0, 0, 3);
  await until(() => members[0]?.seen.length === 3);
  await members[0]?.close();
  await send(place, 0, 3, 6);
  await until(() => members.slice(1).flatMap((one) => one.seen).length === 3);
  for (const one of members.slice(1)) await one.close();
});

test("after the server was killed members come back by themselves and go on", async () => {
  const place = await newTopic(2);
  const members = [new Member(await connect(), place), new Member(await connect(), place)];
  await until(() => members.every((one) => one.partitions().length === 1));
  for (const partitionId of [0, 1]) await send(place, partitionId, 0, 50);
  await until(() => members.flatMap((one) => one.seen).length === 100);
  await server.kill();
  await server.start();
  for (const partitionId of [0, 1]) await send(place, partitionId, 50, 100);
  await until(() => new Set(members.flatMap((one) => one.seen)).size === 200, 20_000);
  for (const one of members) await one.close();
});

test("a consumer that gets nothing although messages wait says so, with stored offset, end and owner", async () => {
  const place = await newTopic(2);
  await admin.createConsumerGroup(place.stream, "t", "g");
  const sleeper = await connect();
  await sleeper.joinConsumerGroup(place);
  const member = new Member(await connect(), { ...place, stalledAfterMs: 200 });
  const stalled: StalledFacts[] = [];
  member.consumer.on("stalled", (facts) => stalled.push(facts));
  await until(() => member.partitions().length === 1);
  const [own] = member.partitions();
  const other = own === 0 ? 1 : 0;
  await send(place, other, 0, 5);
  await until(() => stalled.length > 0);
  const [facts] = stalled;
  assert.deepEqual(
    [facts?.partitionId, facts?.storedOffset, facts?.logEnd, facts?.owner, facts?.isOwn],
    [other, undefined, 4n, 0, false],
  );
  assert.ok((facts?.waitedMs ?? 0) >= 200);
  await sleeper.close();
  await until(() => member.seen.length === 5);
  await member.close();
});

test("messages that retention took are skipped and told; a purge does not replay old positions", async () => {
  const place = await newTopic(1);
  await send(place, 0, 0, 10);
  const first = new Member(await connect(), place);
  await until(() => first.seen.length === 10);
  await first.close();
  await send(place, 0, 10, 13);
  await admin.purgeTopic(place.stream, "t");
  await send(place, 0, 13, 18);
  const second = new Member(await connect(), place);
  const skipped: SkippedFacts[] = [];
  second.consumer.on("skipped", (facts) => skipped.push(facts));
  await until(() => second.seen.length === 5);
  await send(place, 0, 18, 20);
  await admin.purgeTopic(place.stream, "t");
  await send(place, 0, 20, 22);
  await until(() => second.seen.includes("0:21"));
  assert.ok(second.seen.every((text) => Number(text.slice(2)) >= 13));
  await second.close();
});

test("a handler that fails stops its member, which leaves; another one gets the message again", async () => {
  const place = await newTopic(1);
  const failing = (await connect()).consumerGroup({ ...place, startAt: "last" });
  const running = failing.run(() => {
    throw new Error("no");
  });
  running.catch(() => {});
  await until(async () => (await admin.getConsumerGroup(place))?.membersCount === 1);
  await send(place, 0, 0, 1);
  await assert.rejects(running, /no/);
  assert.equal((await admin.getConsumerGroup(place))?.membersCount, 0);
  const second = new Member(await connect(), { ...place, startAt: "last" });
  await until(() => second.seen.length === 1);
  assert.deepEqual(second.seen, ["0:0"]);
  await second.close();
});

test("the iterator works as that of a consumer, and commit and close too", async () => {
  const place = await newTopic(1);
  await send(place, 0, 0, 5);
  const consumer = (await connect()).consumerGroup({ ...place, commit: "manual" });
  for await (const message of consumer) {
    if (message.offset < 2n) continue;
    await consumer.commit(message);
    break;
  }
  assert.equal((await admin.getConsumerGroup(place))?.membersCount, 0, "leaving the loop leaves the group");
  const seen: string[] = [];
  for await (const message of (await connect()).consumerGroup({ ...place, commit: "auto" })) {
    seen.push(message.text());
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, ["0:3", "0:4"]);
});
