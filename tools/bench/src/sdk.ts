import { type Consumer, MillraceClient } from "@millrace/client";
import { type Cost, compare, type Figure, measure } from "./figure.ts";
import { GOALS } from "./goals.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const PAYLOAD_LENGTH = 256;
const MESSAGES = 1000;
const REQUESTS = 300;
const TOTAL = MESSAGES * REQUESTS;
const IN_FLIGHT = 8;
const PLACE = { stream: "bench", topic: "t" } as const;

type Raw = Awaited<ReturnType<typeof openClient>>;

/**
 * What the SDK costs its own process per message, against prebuilt requests on a bare socket: sending, and
 * reading with a loop and with a handler.
 */
export async function benchSdk(rounds: number): Promise<Figure[]> {
  const target = await startMillrace();
  const raw = await openClient(target.port);
  const address = `127.0.0.1:${target.port}`;
  const client = await MillraceClient.connect({
    address,
    username: "iggy",
    password: "iggy",
    inFlightMax: IN_FLIGHT,
  });
  const figures = [await benchProducer(raw, client, rounds), ...(await benchConsumers(raw, client, rounds))];
  await client.close();
  raw.connection.close();
  await target.stop();
  return figures;
}

function benchProducer(raw: Raw, client: MillraceClient, rounds: number): Promise<Figure> {
  const { connection, requests } = raw;
  const request = requests.send(PLACE.stream, PLACE.topic, MESSAGES, PAYLOAD_LENGTH);
  const next = requests.rotate(request, IN_FLIGHT * 2);
  const names = {
    name: "SDK producer, 256 B, batches of 1000: the client's own cost",
    limitName: "prebuilt requests",
    goal: GOALS.sdkProducer,
    rounds,
  };
  return compare(
    names,
    () => onFreshTopic(raw, () => connection.pump(REQUESTS, IN_FLIGHT, next)),
    () => onFreshTopic(raw, () => produce(client)),
  );
}

/** One message after the other, as an application that gets them one by one. */
async function produce(client: MillraceClient): Promise<void> {
  const payload = new Uint8Array(PAYLOAD_LENGTH);
  const partitioning = { partition: 0 };
  const producer = client.producer({ ...PLACE, partitioning, inFlightMax: IN_FLIGHT });
  for (let index = 0; index < TOTAL; index++) {
    if (!producer.tryEnqueue({ payload })) await producer.enqueue({ payload });
  }
  await producer.close();
}

async function benchConsumers(raw: Raw, client: MillraceClient, rounds: number): Promise<Figure[]> {
  const { connection, requests } = raw;
  await connection.call(requests.createStream(PLACE.stream));
  await connection.call(requests.createTopic(PLACE.stream, PLACE.topic));
  const request = requests.send(PLACE.stream, PLACE.topic, MESSAGES, PAYLOAD_LENGTH);
  await connection.pump(REQUESTS, IN_FLIGHT, requests.rotate(request, IN_FLIGHT * 2));
  const poll = (index: number) => requests.poll(PLACE.stream, PLACE.topic, index * MESSAGES, MESSAGES);
  const limit = () => measured(() => connection.pump(REQUESTS, IN_FLIGHT, poll));
  const ways = [
    // The loop comes first: handlers make every later promise of the process dearer, see ClientPlatform.
    ["a loop", (consumer: Consumer) => consumeByLoop(consumer)],
    ["a handler", (consumer: Consumer) => consumeByHandler(consumer)],
  ] as const;
  const figures: Figure[] = [];
  for (const [way, consume] of ways) {
    const name = `SDK consumer, 256 B, polls of 1000, ${way}: the client's own cost`;
    const names = { name, limitName: "prebuilt polls", goal: GOALS.sdkConsumer, rounds };
    figures.push(await compare(names, limit, () => measured(() => consume(openConsumer(client)))));
  }
  await connection.call(requests.deleteStream(PLACE.stream));
  return figures;
}

function openConsumer(client: MillraceClient): Consumer {
  return client.consumer({ ...PLACE, consumer: 1, partitions: [0], startAt: "first", commit: "manual" });
}

async function consumeByHandler(consumer: Consumer): Promise<void> {
  let [count, bytes] = [0, 0];
  await consumer.run((message) => {
    bytes += message.payload.length;
    count += 1;
    if (count === TOTAL) void consumer.close();
  });
  checkRead(bytes);
}

async function consumeByLoop(consumer: Consumer): Promise<void> {
  let [count, bytes] = [0, 0];
  for await (const message of consumer) {
    bytes += message.payload.length;
    count += 1;
    if (count === TOTAL) break;
  }
  checkRead(bytes);
}

function checkRead(bytes: number): void {
  if (bytes !== TOTAL * PAYLOAD_LENGTH) throw new Error(`${bytes} bytes were read`);
}

async function onFreshTopic({ connection, requests }: Raw, work: () => Promise<void>): Promise<Cost> {
  await connection.call(requests.createStream(PLACE.stream));
  await connection.call(requests.createTopic(PLACE.stream, PLACE.topic));
  const cost = await measured(work);
  await connection.call(requests.deleteStream(PLACE.stream));
  return cost;
}

function measured(work: () => Promise<void>): Promise<Cost> {
  return measure(process.pid, TOTAL, TOTAL * PAYLOAD_LENGTH, work);
}
