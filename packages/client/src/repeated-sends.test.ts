import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { MillraceClient, type PartitionChoice, type SendConfirmation } from "./index.ts";
import { CuttingProxy } from "./testing/cutting-proxy.test.ts";
import { RealServer } from "./testing/real-server.test.ts";

const SENDS = 20_000;
const PARTITIONS = 3;
/** Sends that the test lets wait at once; the client has 64 of them on the wire. */
const WAITING_MAX = 400;
const PLACE = { stream: "s", topic: "t" };

const server = new RealServer();
const proxy = new CuttingProxy(() => server.address);
let client: MillraceClient;

before(async () => {
  await server.start();
  client = await MillraceClient.connect({
    address: await proxy.start(),
    username: "iggy",
    password: "iggy",
    inFlightMax: 64,
    requestTimeoutMs: 120_000,
    reconnect: { retries: 1000, intervalMs: 5, delayMaxMs: 200 },
  });
});
after(async () => {
  await client.close();
  await proxy.close();
  await server.remove();
});

/** A third goes where the server decides, the others to a partition or a key. */
function choiceOf(index: number): PartitionChoice {
  if (index % 3 === 0) return "balanced";
  return index % 3 === 1 ? { partition: index % PARTITIONS } : { key: `key-${index % 50}` };
}

async function sendAll(onSent: (index: number) => void): Promise<(readonly SendConfirmation[])[]> {
  const confirmations: (readonly SendConfirmation[])[] = [];
  const waiting = new Set<Promise<void>>();
  for (let index = 0; index < SENDS; index += 1) {
    const messages = [{ payload: `m${index}` }];
    const sending = client
      .sendMessages({ ...PLACE, messages, partitioning: choiceOf(index) })
      .then((confirmed) => {
        confirmations[index] = confirmed;
        waiting.delete(sending);
      });
    waiting.add(sending);
    onSent(index);
    if (waiting.size >= WAITING_MAX) await Promise.race(waiting);
  }
  await Promise.all(waiting);
  return confirmations;
}

async function storedPlaces(): Promise<Map<string, string[]>> {
  const places = new Map<string, string[]>();
  for (let partitionId = 0; partitionId < PARTITIONS; partitionId += 1) {
    for (let offset = 0n; ; ) {
      const poll = { ...PLACE, consumer: 1, partitionId, startAt: { offset }, count: 1000 };
      const { messages } = await client.pollMessages(poll);
      const last = messages.at(-1);
      if (last === undefined) break;
      for (const message of messages) {
        const text = message.text();
        places.set(text, [...(places.get(text) ?? []), `${partitionId}/${message.offset}`]);
      }
      offset = last.offset + 1n;
    }
  }
  return places;
}

test("20,000 sends over a connection that is cut again and again, and a killed server, are written once each.", async () => {
  await client.createStream(PLACE.stream);
  await client.createTopic(PLACE.stream, { name: PLACE.topic, partitionsCount: PARTITIONS });
  let killing: Promise<void> | undefined;
  const confirmations = await sendAll((index) => {
    if (index % 500 === 499) proxy.cut();
    if (index === SENDS / 2) killing = server.kill().then(() => server.start());
  });
  await killing;
  assert.ok(proxy.cuts > 20, `${proxy.cuts} cuts`);
  const places = await storedPlaces();
  assert.equal(places.size, SENDS);
  for (let index = 0; index < SENDS; index += 1) {
    const [confirmed] = confirmations[index] ?? [];
    assert.deepEqual(
      places.get(`m${index}`),
      [`${confirmed?.partitionId}/${confirmed?.baseOffset}`],
      `m${index}`,
    );
  }
});
