import { startLimit } from "./child-process.ts";
import { compare, type Figure, measure, SINGLE_REQUESTS } from "./figure.ts";
import { GOALS, type Goal } from "./goals.ts";
import { LoadConnection } from "./load-connection.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const PAYLOAD_LENGTH = 256;

/** One way to produce: how many messages a request, how many requests unanswered, and against which limit. */
interface Load {
  readonly name: string;
  readonly goal: Goal;
  readonly limitName: "sink" | "echo";
  readonly messages: number;
  readonly requests: number;
  readonly inFlight: number;
}

/** Produce 1000 x 256 B, acknowledged after the write, against a sink of the same requests. */
export function benchProduce(rounds: number): Promise<Figure> {
  return benchLoad(rounds, {
    name: "produce 1000 x 256 B, acknowledged after the write",
    goal: GOALS.produce,
    limitName: "sink",
    messages: 1000,
    requests: 1000,
    inFlight: 8,
  });
}

/** Produce one message a request with many requests in flight, against an echo of one write a request. */
export function benchSingle(rounds: number): Promise<Figure> {
  return benchLoad(rounds, {
    name: "produce 1 x 256 B, 64 requests in flight",
    goal: GOALS.single,
    limitName: "echo",
    messages: 1,
    requests: SINGLE_REQUESTS,
    inFlight: 64,
  });
}

async function benchLoad(rounds: number, load: Load): Promise<Figure> {
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  const request = requests.send("bench", "t", load.messages, PAYLOAD_LENGTH);
  const limit = await startLimit(load.limitName, request.length, 256);
  const limitConnection = await LoadConnection.open(limit.port);
  const [messages, bytes] = [load.requests * load.messages, load.requests * request.length];
  const runs = requests.runs(request, load.inFlight * 2);
  const run = (pid: number, to: LoadConnection) =>
    measure(pid, messages, bytes, () => to.pumpRuns(load.requests, load.inFlight, runs));
  const figure = await compare(
    { name: load.name, limitName: load.limitName, goal: load.goal, rounds },
    () => run(limit.pid, limitConnection),
    async () => {
      await connection.call(requests.createStream("bench"));
      await connection.call(requests.createTopic("bench", "t"));
      const cost = await run(target.pid, connection);
      await connection.call(requests.deleteStream("bench"));
      return cost;
    },
  );
  for (const one of [connection, limitConnection]) one.close();
  await Promise.all([target.stop(), limit.stop()]);
  return figure;
}
