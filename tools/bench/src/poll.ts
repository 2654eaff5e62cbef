import { startLimit } from "./child-process.ts";
import { compare, type Figure, measure } from "./figure.ts";
import { GOALS } from "./goals.ts";
import { LoadConnection } from "./load-connection.ts";
import { openClient, startMillrace } from "./millrace-target.ts";

const PAYLOAD_LENGTH = 256;
const MESSAGES = 1000;
const FILL_REQUESTS = 1200;
const POLLS = 1000;
const IN_FLIGHT = 8;
/** Batches that are polled in turn: recent enough to be in memory, or old enough not to be. */
const WINDOW = 16;
const EMPTY_POLL_LENGTH = 256 + 16;

/** Polls of 1000 x 256 B from the tail and from the page cache, against a source of the same replies. */
export async function benchPolls(rounds: number): Promise<Figure[]> {
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  const send = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t"));
  await connection.pump(FILL_REQUESTS, IN_FLIGHT, requests.rotate(send, IN_FLIGHT * 2));
  const replyLength = EMPTY_POLL_LENGTH + 256 + MESSAGES * (48 + PAYLOAD_LENGTH);
  const polls = (firstBatch: number) =>
    Array.from({ length: WINDOW }, (_, at) =>
      requests.poll("bench", "t", (firstBatch + at) * MESSAGES, MESSAGES),
    );
  const source = await startLimit("source", polls(0)[0]?.length ?? 0, replyLength);
  const sourceConnection = await LoadConnection.open(source.port);
  const [messages, bytes] = [POLLS * MESSAGES, POLLS * replyLength];
  const figures: Figure[] = [];
  for (const [name, goal, firstBatch] of [
    ["poll 1000 x 256 B from the tail", GOALS.pollTail, FILL_REQUESTS - WINDOW],
    ["poll 1000 x 256 B from the page cache, verified", GOALS.pollPageCache, 0],
  ] as const) {
    const ring = polls(firstBatch);
    const next = (index: number) => ring[index % WINDOW] as Buffer;
    const run = (pid: number, from: LoadConnection) =>
      measure(pid, messages, bytes, () => from.pump(POLLS, IN_FLIGHT, next));
    const names = { name, limitName: "source", goal, rounds };
    figures.push(
      await compare(
        names,
        () => run(source.pid, sourceConnection),
        () => run(target.pid, connection),
      ),
    );
  }
  for (const one of [connection, sourceConnection]) one.close();
  await Promise.all([target.stop(), source.stop()]);
  return figures;
}
