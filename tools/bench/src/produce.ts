import { startLimit } from "./child-process.ts";
import { compare, type Figure, measure } from "./figure.ts";
import { LoadConnection } from "./load-connection.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const PAYLOAD_LENGTH = 256;
const MESSAGES = 1000;
const REQUESTS = 1000;
const IN_FLIGHT = 8;

/** Produce 1000 x 256 B, acknowledged after the write, against a sink of the same requests. */
export async function benchProduce(rounds: number): Promise<Figure> {
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const sink = await startLimit("sink", request.length, 256);
  const sinkConnection = await LoadConnection.open(sink.port);
  const [messages, bytes] = [REQUESTS * MESSAGES, REQUESTS * request.length];
  const next = requests.rotate(request, IN_FLIGHT * 2);
  const figure = await compare(
    { name: "produce 1000 x 256 B, ack after write", limitName: "sink", mustReach: 0.15, rounds },
    () => measure(sink.pid, messages, bytes, () => sinkConnection.pump(REQUESTS, IN_FLIGHT, next)),
    async () => {
      await connection.call(requests.createStream("bench"));
      await connection.call(requests.createTopic("bench", "t"));
      const cost = await measure(target.pid, messages, bytes, () =>
        connection.pump(REQUESTS, IN_FLIGHT, next),
      );
      await connection.call(requests.deleteStream("bench"));
      return cost;
    },
  );
  for (const one of [connection, sinkConnection]) one.close();
  await Promise.all([target.stop(), sink.stop()]);
  return figure;
}
