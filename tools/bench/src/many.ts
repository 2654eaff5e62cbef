import { compare, type Figure, measure } from "./figure.ts";
import { GOALS, type Goal } from "./goals.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const MESSAGES = 100;
const PAYLOAD_LENGTH = 256;
/** Requests of all connections together in one run. */
const REQUESTS = 8000;
/** Together as many as one connection has alone, and never fewer than one each. */
const IN_FLIGHT_ALONE = 8;
const IN_FLIGHT_EACH = 1;
/** Logins at once: each costs the server a hash of the password. */
const LOGINS_AT_ONCE = 16;

/**
 * Produce 100 x 256 B over 100 connections, each to its own partition, against the same over one connection
 * to one partition of the same server.
 */
export function benchMany(rounds: number): Promise<Figure> {
  const name = "100 connections to 100 partitions, 100 x 256 B";
  return benchConnections({ name, connections: 100, goal: GOALS.many, rounds });
}

/** The same over 1,000 connections. */
export function benchThousand(rounds: number): Promise<Figure> {
  const name = "1,000 connections to 1,000 partitions, 100 x 256 B";
  return benchConnections({ name, connections: 1000, goal: GOALS.thousand, rounds });
}

interface ConnectionsBench {
  readonly name: string;
  readonly connections: number;
  readonly goal: Goal;
  readonly rounds: number;
}

async function benchConnections({ name, connections, goal, rounds }: ConnectionsBench): Promise<Figure> {
  const target = await startMillrace();
  const clients = await openClients(target.port, connections);
  const [first] = clients;
  if (first === undefined) throw new Error("there is no client");
  const pumps = clients.map(({ connection, requests }, partitionId) => {
    const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH, partitionId);
    const inFlightMax = partitionId === 0 ? IN_FLIGHT_ALONE : IN_FLIGHT_EACH;
    const next = requests.rotate(request, inFlightMax * 2);
    return (count: number, inFlight: number) => connection.pump(count, inFlight, next);
  });
  const requestLength = first.requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH).length;
  const run = async (partitions: number, work: () => Promise<unknown>) => {
    await first.connection.call(first.requests.createStream("bench"));
    await first.connection.call(first.requests.createTopic("bench", "t", partitions));
    const cost = await measure(target.pid, REQUESTS * MESSAGES, REQUESTS * requestLength, async () => {
      await work();
    });
    await first.connection.call(first.requests.deleteStream("bench"));
    return cost;
  };
  const figure = await compare(
    { name, limitName: "1 x 1", goal, rounds },
    () => run(1, () => pumps[0]?.(REQUESTS, IN_FLIGHT_ALONE) ?? Promise.resolve()),
    () =>
      run(connections, () => Promise.all(pumps.map((pump) => pump(REQUESTS / connections, IN_FLIGHT_EACH)))),
  );
  for (const { connection } of clients) connection.close();
  await target.stop();
  return figure;
}

async function openClients(port: number, count: number) {
  const clients: Awaited<ReturnType<typeof openClient>>[] = [];
  while (clients.length < count) {
    const length = Math.min(LOGINS_AT_ONCE, count - clients.length);
    const first = clients.length + 1;
    const opening = Array.from({ length }, (_, at) => openClient(port, BigInt(first + at)));
    clients.push(...(await Promise.all(opening)));
  }
  return clients;
}
