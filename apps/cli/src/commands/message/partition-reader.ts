import type { Client, ShownMessage } from "../../connection/client.ts";

/** Messages asked for in one poll; a reply of this many small ones stays well under a megabyte. */
const POLL_COUNT = 1_000;

/** The topic that is read. */
export interface Place {
  readonly stream: number | string;
  readonly topic: number | string;
}

/**
 * Reads one partition in order, by offset. It stores nothing on the server. When a purge has made the log
 * shorter than what was read, it goes on at its beginning.
 */
export interface PartitionReader {
  /** The next messages; none when there is nothing new. */
  next(): Promise<readonly ShownMessage[]>;
}

/** Readers that start at the oldest message of each partition. */
export function readersFromFirst(client: Client, place: Place, partitions: readonly number[]) {
  return {
    messages: [],
    readers: partitions.map((partitionId) => readFrom(client, { ...place, partitionId }, 0n)),
  };
}

/**
 * The last messages of the topic over its partitions, oldest first, and readers that go on behind them.
 *
 * A partition is asked for its last `last` messages; of all of them the newest `last` by server time are
 * kept, so the answer is the same however the messages are spread.
 */
export async function readersFromLast(
  client: Client,
  { partitions, last, ...place }: Place & { readonly partitions: readonly number[]; readonly last: number },
) {
  const messages: ShownMessage[] = [];
  const readers: PartitionReader[] = [];
  for (const partitionId of partitions) {
    const poll = { ...place, partitionId, consumer: 0, startAt: "last", count: Math.max(last, 1) } as const;
    const polled = await client.pollMessages(poll);
    const newest = polled.messages.at(-1);
    if (last > 0) messages.push(...polled.messages);
    const from = newest === undefined ? 0n : newest.offset + 1n;
    readers.push(readFrom(client, { ...place, partitionId }, from));
  }
  messages.sort(byTime);
  return { messages: last === 0 ? [] : messages.slice(-last), readers };
}

function readFrom(client: Client, place: Place & { partitionId: number }, from: bigint): PartitionReader {
  let offset = from;
  return {
    async next() {
      const poll = { ...place, consumer: 0, startAt: { offset }, count: POLL_COUNT };
      const { messages, currentOffset } = await client.pollMessages(poll);
      const newest = messages.at(-1);
      if (newest !== undefined) offset = newest.offset + 1n;
      else if (offset > currentOffset + 1n) offset = 0n;
      return messages;
    },
  };
}

function byTime(one: ShownMessage, other: ShownMessage): number {
  if (one.timestamp !== other.timestamp) return one.timestamp < other.timestamp ? -1 : 1;
  if (one.partitionId !== other.partitionId) return one.partitionId - other.partitionId;
  return one.offset < other.offset ? -1 : 1;
}
