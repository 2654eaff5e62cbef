import type { MillraceClient, PollRequest, ReceivedMessage } from "@millrace/client";
import { MessageContent } from "../content/message-content.ts";
import type { TopicHistory } from "../oracle/topic-history.ts";
import type { Reader } from "./read-partition.ts";

/** A stored message of a fake partition. */
export interface FakeMessage {
  readonly offset: number;
  readonly number: number;
  readonly timestamp: bigint;
}

/** What a fake server says instead of the truth. */
export interface Lies {
  /** Offset that a lookup by time starts at. */
  readonly timeLeadsTo?: number;
  /** Added to the count of messages. */
  readonly extraCount?: number;
  /** The end a poll states. */
  readonly currentOffset?: number;
}

/** A reader of one honest partition 0, except for its lies. */
export function fakeReader(topic: TopicHistory, messages: readonly FakeMessage[], lies: Lies = {}): Reader {
  const content = new MessageContent(1);
  const received = (message: FakeMessage): ReceivedMessage =>
    ({
      ...content.messages(message.number, 1)[0],
      partitionId: 0,
      offsetNumber: message.offset,
      offset: BigInt(message.offset),
      timestamp: message.timestamp,
    }) as unknown as ReceivedMessage;
  const startOf = ({ startAt, count = 1 }: PollRequest): number => {
    if (startAt === "last") return Math.max(0, messages.length - count);
    if (typeof startAt !== "object") return 0;
    if ("timestamp" in startAt) {
      if (lies.timeLeadsTo !== undefined)
        return messages.findIndex(({ offset }) => offset === lies.timeLeadsTo);
      return messages.findIndex(({ timestamp }) => timestamp >= BigInt(startAt.timestamp));
    }
    const index = messages.findIndex(({ offset }) => offset >= Number(startAt.offset));
    return index < 0 ? messages.length : index;
  };
  const currentOffset = BigInt(lies.currentOffset ?? messages.at(-1)?.offset ?? 0);
  const client = {
    pollMessages: async (poll: PollRequest) => {
      if (poll.partitionId !== 0) return { partitionId: poll.partitionId, currentOffset: 0n, messages: [] };
      const start = startOf(poll);
      const found = messages.slice(start, start + (poll.count ?? 1)).map(received);
      return { partitionId: 0, currentOffset, messages: found };
    },
    getTopic: async () => ({
      partitions: topic.partitions.map(({ partition, placed }) => ({
        id: partition,
        messagesCount: BigInt(partition === 0 ? messages.length + (lies.extraCount ?? 0) : 0),
        size: BigInt(placed.reduce((sum, { length }) => sum + length, 0)),
        currentOffset: partition === 0 ? currentOffset : 0n,
      })),
    }),
  };
  return { client: client as unknown as MillraceClient, stream: "stream", content };
}
