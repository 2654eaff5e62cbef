import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { streamWithTopic } from "./catalog-cases.mjs";
import { numbered } from "./message-cases.mjs";

/** The others miss the leader after two seconds; this client may lose several more on a dead address. */
const GOES_ON_MAX_MS = 30_000;
const BATCH = 5;
const BATCHES = 40;

/**
 * Sends numbered messages, batch after batch, with the client that `clientOf` gives, and keeps where those that
 * were acknowledged are. A batch that ends in an error has an open outcome: it is not sent again.
 */
class Writer {
  acknowledged = new Map();
  #clientOf;
  #place;
  #partition;
  #next = 0;

  constructor({ sdk }, place, clientOf) {
    this.#clientOf = clientOf;
    this.#place = place;
    this.#partition = sdk.Partitioning.PartitionId(0);
  }

  /** Until that many more batches are acknowledged; `onError` is told of each that is not. */
  async write(count, onError = () => {}) {
    const wanted = this.acknowledged.size + count;
    let last;
    for (const endMs = Date.now() + GOES_ON_MAX_MS; this.acknowledged.size < wanted; ) {
      assert.ok(Date.now() < endMs, `writes do not go on: ${last?.message}`);
      const first = this.#next;
      this.#next += BATCH;
      const request = { ...this.#place, messages: numbered(first, this.#next), partition: this.#partition };
      try {
        const { confirmations } = await this.#clientOf().message.send(request);
        this.acknowledged.set(first, Number(confirmations[0].baseOffset));
      } catch (error) {
        last = error;
        onError(error);
        await sleep(100);
      }
    }
  }

  /** Every acknowledged batch is at the offset that was confirmed, and nothing is there twice or moved. */
  async expectAll(world, client) {
    const seen = await everything(world, this.#place, client);
    assert.deepEqual(
      seen,
      [...new Set(seen)].sort((one, other) => one - other),
    );
    for (const [first, offset] of this.acknowledged) {
      const wanted = Array.from({ length: BATCH }, (_, step) => first + step);
      assert.deepEqual(seen.slice(offset, offset + BATCH), wanted, `batch at ${offset}`);
    }
  }
}

/** The number in each message of partition 0; its index is its offset. */
async function everything({ sdk }, place, client) {
  const seen = [];
  for (;;) {
    const polled = await client.message.poll({
      ...place,
      consumer: { kind: 1, id: 7 },
      partitionId: 0,
      pollingStrategy: sdk.PollingStrategy.Offset(BigInt(seen.length)),
      count: 1000,
      autocommit: false,
    });
    if (polled.messages.length === 0) return seen;
    for (const { payload } of polled.messages) seen.push(Number(payload.toString()));
  }
}

/** Polls for the group until `isEnough` of the numbers that were read; what fails is asked again. */
async function readUntil({ sdk }, place, client, seen, isEnough) {
  const request = { ...place, consumer: sdk.Consumer.Group("readers"), partitionId: null };
  const how = { pollingStrategy: sdk.PollingStrategy.Next, count: 10, autocommit: true };
  let last;
  for (const endMs = Date.now() + 1.5 * GOES_ON_MAX_MS; !isEnough(seen); ) {
    assert.ok(Date.now() < endMs, `reading does not go on: ${last?.message}`);
    try {
      const { messages } = await client.message.poll({ ...request, ...how });
      for (const { payload } of messages) seen.add(Number(payload.toString()));
    } catch (error) {
      last = error;
      await sleep(100);
    }
  }
}

/** The addresses of the roster: that of the leader, and those of the others. */
async function roster({ root }) {
  const { nodes } = await root.cluster.getClusterMetadata();
  const addressOf = ({ ip, endpoints }) => `${ip}:${endpoints.tcp}`;
  const isLeader = ({ role }) => role === "Leader";
  const leader = nodes.find(isLeader);
  assert.ok(leader !== undefined, `one of ${JSON.stringify(nodes)} leads`);
  return { leader: addressOf(leader), others: nodes.filter((node) => !isLeader(node)).map(addressOf) };
}

/** A client of the address that tells at once when its connection is lost. */
const plainClient = ({ newClient }, address) => newClient(undefined, address, { enabled: false });

/** A cluster of three nodes whose leader is killed. Each case: `(world) => Promise`. */
export const clusterCases = {
  "a client that knows one node that does not lead creates, writes and reads": async (world) => {
    const place = await streamWithTopic(world, "known");
    const writer = new Writer(world, place, () => world.root);
    await writer.write(1);
    await writer.expectAll(world, world.root);
    assert.equal((await roster(world)).others.length, 2);
  },

  "a producer goes on through the kill of a leader that is not the node it was given": async (world) => {
    const place = await streamWithTopic(world, "produced");
    const client = world.newClient(undefined, (await roster(world)).others[0]);
    const writer = new Writer(world, place, () => client);
    await writer.write(BATCHES);
    const killing = world.order("kill-leader");
    await writer.write(BATCHES);
    await killing;
    await writer.write(BATCHES);
    await world.order("start-killed");
    await writer.expectAll(world, client);
  },

  "a member of a group reads on through that, and gets everything": async (world) => {
    const place = await streamWithTopic({ ...world, root: world.newClient() }, "consumed");
    const { others } = await roster({ root: world.newClient() });
    const client = world.newClient(undefined, others[0]);
    const reader = world.newClient(undefined, others[1]);
    await client.group.create({ ...place, name: "readers" });
    await reader.group.join({ ...place, groupId: "readers" });
    const writer = new Writer(world, place, () => client);
    const seen = new Set();
    await writer.write(BATCHES);
    await readUntil(world, place, reader, seen, () => seen.size > 0);
    await world.order("kill-leader");
    await writer.write(BATCHES);
    const wanted = [...writer.acknowledged.keys()].map((first) => first + BATCH - 1);
    await readUntil(world, place, reader, seen, () => wanted.every((number) => seen.has(number)));
    await world.order("start-killed");
  },

  "a program that takes the next address of the roster goes on when the node dies that it was given": async (
    world,
  ) => {
    const first = world.newClient();
    const place = await streamWithTopic({ ...world, root: first }, "listed");
    const { leader, others } = await roster({ root: first });
    const addresses = [leader, ...others];
    let client = plainClient(world, addresses[0]);
    const writer = new Writer(world, place, () => client);
    const takeNext = () => {
      addresses.push(addresses.shift());
      client = plainClient(world, addresses[0]);
    };
    await writer.write(BATCHES);
    await world.order("kill-leader");
    await writer.write(BATCHES, takeNext);
    await world.order("start-killed");
    await writer.expectAll(world, client);
  },
};
