import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type GroupConsumer, MillraceClient } from "./index.ts";
import { RealCluster } from "./testing/real-cluster.test.ts";

const PLACE = { stream: "s", topic: "t" };
const GROUP = { ...PLACE, group: "g" };
const PARTITIONS = 2;
/** Acknowledged before a node dies, while it is away, and once it is back. */
const MESSAGES_EACH = 150;
const LOOK_MS = 20;
/** An election takes some seconds, and a machine may be busy. */
const GOES_ON_MAX_MS = 40_000;

const clients: MillraceClient[] = [];
let cluster: RealCluster;

before(async () => {
  cluster = await RealCluster.start();
});
after(async () => {
  await Promise.all(clients.map((client) => client.close().catch(() => {})));
  await cluster.remove();
});

async function connect(): Promise<MillraceClient> {
  const client = await MillraceClient.connect({
    address: cluster.addresses,
    username: "iggy",
    password: "iggy",
    requestTimeoutMs: 60_000,
  });
  clients.push(client);
  return client;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + GOES_ON_MAX_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, `${what} within ${GOES_ON_MAX_MS} ms`);
    await sleep(LOOK_MS);
  }
}

/** Sends numbered messages to one partition without a pause, in order, and keeps their offsets. */
class Writer {
  /** By number; undefined where the server stored it before and no longer knows where. */
  readonly offsets: (bigint | undefined)[] = [];
  readonly #partition: number;
  readonly #sending: Promise<void>;
  #isStopWanted = false;

  constructor(client: MillraceClient, partition: number) {
    this.#partition = partition;
    this.#sending = this.#send(client);
  }

  async #send(client: MillraceClient): Promise<void> {
    const partitioning = { partition: this.#partition };
    const producer = client.producer({ ...PLACE, partitioning, inFlightMax: 1, lingerMs: 0 });
    while (!this.#isStopWanted) {
      const first = this.offsets.length;
      const payloads = [0, 1, 2].map((step) => ({ payload: `${this.#partition}:${first + step}` }));
      const acks = await Promise.all(payloads.map((message) => producer.send(message)));
      this.offsets.push(...acks.map(({ offset }) => offset));
    }
    await producer.close();
  }

  stop(): Promise<void> {
    this.#isStopWanted = true;
    return this.#sending;
  }

  /** The texts of the acknowledged messages, in the order in which they were sent. */
  get texts(): string[] {
    return this.offsets.map((_, number) => `${this.#partition}:${number}`);
  }
}

/** A member of the group; what it is given is added to `read`. */
function startMember(client: MillraceClient, read: string[]): GroupConsumer {
  const consumer = client.consumerGroup({ ...GROUP, syncIntervalMs: 200 });
  void consumer.run((message) => {
    read.push(message.text());
  });
  return consumer;
}

async function stored(client: MillraceClient, partitionId: number): Promise<string[]> {
  const texts: string[] = [];
  for (let offset = 0n; ; ) {
    const poll = { ...PLACE, consumer: 1, partitionId, startAt: { offset }, count: 1000 };
    const { messages } = await client.pollMessages(poll);
    const last = messages.at(-1);
    if (last === undefined) return texts;
    texts.push(...messages.map((message) => message.text()));
    offset = last.offset + 1n;
  }
}

async function membersOf(client: MillraceClient): Promise<string> {
  const details = await client.getConsumerGroup(GROUP);
  const members = details?.members.map(({ id, partitions }) => `${id} has ${partitions}`) ?? [];
  return members.sort().join(", ");
}

async function isWhole(client: MillraceClient): Promise<boolean> {
  const { nodes } = await client.getClusterMetadata();
  return nodes.every(({ status }) => status === "healthy");
}

test("Whatever node dies: producers keep their order, each message is stored once, group members stay members.", async () => {
  const client = await connect();
  await client.createStream(PLACE.stream);
  await client.createTopic(PLACE.stream, { name: PLACE.topic, partitionsCount: PARTITIONS });
  const read: string[] = [];
  const members = [startMember(await connect(), read), startMember(await connect(), read)];
  await until("each member has a partition", () =>
    members.every(({ partitions }) => partitions.length === 1),
  );
  const before = await membersOf(client);
  const writers = [new Writer(await connect(), 0), new Writer(await connect(), 1)];
  const goOn = async () => {
    const goals = writers.map(({ offsets }) => offsets.length + MESSAGES_EACH);
    await until("writers go on", () =>
      writers.every(({ offsets }, at) => offsets.length >= (goals[at] ?? 0)),
    );
  };
  await goOn();
  for (const at of [0, 1, 2]) {
    await cluster.kill(at);
    await goOn();
    assert.equal(await membersOf(client), before, `members after node ${at} died`);
    await cluster.startAgain(at);
    await until("the node is back", () => isWhole(client));
    await goOn();
  }
  for (const writer of writers) await writer.stop();
  for (const [partition, writer] of writers.entries()) {
    const texts = await stored(client, partition);
    assert.deepEqual(
      texts,
      writer.texts,
      `partition ${partition} holds what was acknowledged, once, in order`,
    );
    for (const [number, offset] of writer.offsets.entries())
      assert.ok(offset === undefined || offset === BigInt(number), `message ${number} is at ${offset}`);
    const own = () => [...new Set(read.filter((text) => text.startsWith(`${partition}:`)))];
    await until("the members have read it all", () => own().length === texts.length);
    assert.deepEqual(own(), texts, "read in order");
  }
  assert.equal(await membersOf(client), before);
});
