import { compare, type Figure, measure } from "./figure.ts";
import { GOALS } from "./goals.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const CONNECTIONS = 100;
const MESSAGES = 100;
const PAYLOAD_LENGTH = 256;
/** Requests of all connections together in one run. */
const REQUESTS = 8000;
/** Together as many as one connection has alone, and never fewer than one each. */
const IN_FLIGHT_ALONE = 8;
const IN_FLIGHT_EACH = 1;

/**
 * Produce 100 x 256 B over 100 connections, each to its own partition, against the same over one connection
 * to one partition of the same server.
 */
export async function benchMany(rounds: number): Promise<Figure> {
  const target = await startMillrace();
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, (_, at) => openClient(target.port, BigInt(at + 1))),
  );
  const [first] = clients;
  if (first === undefined) throw new Error("there is no client");
  const pumps = clients.map(({ connection, requests }, partitionId) => {
    const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH, partitionId);
    const next = requests.rotate(request, IN_FLIGHT_ALONE * 2);
    return (count: number, inFlight: number) => connection.pump(count, inFlight, next);
  });
  const requestLength = first.requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH).length;
  const run = async (work: () => Promise<unknown>) => {
    await first.connection.call(first.requests.createStream("bench"));
    await first.connection.call(first.requests.createTopic("bench", "t", CONNECTIONS));
    const cost = await measure(target.pid, REQUESTS * MESSAGES, REQUESTS * requestLength, async () => {
      await work();
    });
    await first.connection.call(first.requests.deleteStream("bench"));
    return cost;
  };
  const figure = await compare(
    { name: "100 connections to 100 partitions, 100 x 256 B", limitName: "1 x 1", goal: GOALS.many, rounds },
    () => run(() => pumps[0]?.(REQUESTS, IN_FLIGHT_ALONE) ?? Promise.resolve()),
    () => run(() => Promise.all(pumps.map((pump) => pump(REQUESTS / CONNECTIONS, IN_FLIGHT_EACH)))),
  );
  for (const { connection } of clients) connection.close();
  await target.stop();
  return figure;
}
