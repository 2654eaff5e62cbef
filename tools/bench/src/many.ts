import { compare, type Figure, measure } from "./figure.ts";
import { GOALS, type Goal } from "./goals.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const MESSAGES = 100;
const PAYLOAD_LENGTH = 256;
/** Requests of all connections together in one run. */
const REQUESTS = 8000;
/** Of the connection that is alone, and of each of many: architecture.md section 9. */
const IN_FLIGHT = 8;
/** Logins at once: each costs the server a hash of the password. */
const LOGINS_AT_ONCE = 16;

/**
 * Produce 100 x 256 B over 100 connections, each to its own partition, against the same over one connection
 * to one partition of the same server. Then with one request in flight each, so that no two of a partition
 * come together: nothing has to be reached there.
 */
export async function benchMany(rounds: number): Promise<Figure[]> {
  const [name, connections] = ["100 connections to 100 partitions, 100 x 256 B", 100];
  return [
    await benchConnections({ name, connections, goal: GOALS.many, rounds, inFlightEach: IN_FLIGHT }),
    await benchConnections({
      ...{ name: `${name}, 1 in flight each`, connections, rounds },
      ...{ goal: { aim: GOALS.many.aim }, inFlightEach: 1 },
    }),
  ];
}

/** The same over 1,000 connections. */
export async function benchThousand(rounds: number): Promise<Figure[]> {
  const name = "1,000 connections to 1,000 partitions, 100 x 256 B";
  const inFlightEach = IN_FLIGHT;
  return [await benchConnections({ name, connections: 1000, goal: GOALS.thousand, rounds, inFlightEach })];
}

interface ConnectionsBench {
  readonly name: string;
  readonly connections: number;
  readonly goal: Goal;
  readonly rounds: number;
  /** Unanswered requests of each of the connections. */
  readonly inFlightEach: number;
}

async function benchConnections(bench: ConnectionsBench): Promise<Figure> {
  const { name, connections, goal, rounds, inFlightEach } = bench;
  const target = await startMillrace();
  const clients = await openClients(target.port, connections);
  const [first] = clients;
  if (first === undefined) throw new Error("there is no client");
  const pumps = clients.map(({ connection, requests }, partitionId) => {
    const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH, partitionId);
    const next = requests.rotate(request, (partitionId === 0 ? IN_FLIGHT : inFlightEach) * 2);
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
    () => run(1, () => pumps[0]?.(REQUESTS, IN_FLIGHT) ?? Promise.resolve()),
    () =>
      run(connections, () => Promise.all(pumps.map((pump) => pump(REQUESTS / connections, inFlightEach)))),
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
