import type { Partition } from "@millrace/client";
import type { Client } from "../../connection/client.ts";
import { type Field, properties, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { getTopic } from "../topic/get.ts";
import { addGroupTarget, type GroupPlace, getGroup } from "./target.ts";

const MICROS_PER_MILLI = 1000n;

/** Partitions asked about at once: quick for big topics, gentle to the server. */
const AT_ONCE = 16;

/** How far a group is behind in one partition. */
interface PartitionLag {
  readonly partitionId: number;
  /** Member that owns it. */
  readonly owner: number | undefined;
  readonly storedOffset: bigint | undefined;
  /** Highest readable offset. */
  readonly logEnd: bigint;
  readonly messages: bigint;
  /** Age of the oldest message the group has not committed, milliseconds; 0 without one. */
  readonly behindMs: number;
}

type Total = Pick<PartitionLag, "messages" | "behindMs">;

const seconds = ({ behindMs }: Total) => `${(behindMs / 1000).toFixed(1)} s`;

const LAG_FIELDS: readonly Field<PartitionLag>[] = [
  { name: "partition_id", title: "Partition", value: (lag) => lag.partitionId },
  { name: "owner", title: "Member ID", value: (lag) => lag.owner ?? null },
  { name: "stored_offset", title: "Stored offset", value: (lag) => lag.storedOffset ?? null },
  { name: "current_offset", title: "Current offset", value: (lag) => lag.logEnd },
  { name: "messages_behind", title: "Messages behind", value: (lag) => lag.messages },
  { name: "time_behind_ms", title: "Time behind", value: (lag) => lag.behindMs, text: seconds },
];

const TOTAL_FIELDS: readonly Field<Total>[] = [
  { name: "messages_behind", title: "Messages behind", value: (total) => total.messages },
  { name: "time_behind_ms", title: "Time behind", value: (total) => total.behindMs, text: seconds },
];

/** `millrace consumer-group lag STREAM TOPIC GROUP` */
export const addGroupLag: AddCommand = (parent, run) => {
  const summary = "show how far a group is behind, in messages and time, per partition and in total";
  addGroupTarget(leaf(parent, { name: "lag", summary })).action(
    run(async ({ client }, stream: number | string, topic: number | string, group: number | string) => {
      const lags = await lagsOf(await client(), { stream, topic, group });
      const total = {
        messages: lags.reduce((sum, { messages }) => sum + messages, 0n),
        behindMs: Math.max(0, ...lags.map(({ behindMs }) => behindMs)),
      };
      return properties(TOTAL_FIELDS, total, {
        partitions: rows(LAG_FIELDS, lags, "The topic has no partitions."),
      });
    }),
  );
};

async function lagsOf(client: Client, place: GroupPlace): Promise<PartitionLag[]> {
  const { members } = await getGroup(client, place);
  const { partitions } = await getTopic(client, place.stream, place.topic);
  const lags: PartitionLag[] = [];
  for (let first = 0; first < partitions.length; first += AT_ONCE) {
    const some = partitions.slice(first, first + AT_ONCE);
    const found = await Promise.all(some.map((partition) => lagOf(client, place, partition)));
    lags.push(
      ...found.map((lag) => {
        const owner = members.find((member) => member.partitions.includes(lag.partitionId))?.id;
        return { ...lag, owner };
      }),
    );
  }
  return lags;
}

async function lagOf(
  client: Client,
  { stream, topic, group }: GroupPlace,
  { id: partitionId, currentOffset, messagesCount }: Partition,
): Promise<Omit<PartitionLag, "owner">> {
  const place = { stream, topic, partitionId };
  const offset = await client.getConsumerOffset({ ...place, consumer: { group } });
  const storedOffset = offset?.storedOffset;
  const logEnd = offset?.currentOffset ?? currentOffset;
  const unread = storedOffset === undefined ? messagesCount : logEnd - storedOffset;
  if (unread <= 0n) return { partitionId, storedOffset, logEnd, messages: 0n, behindMs: 0 };
  // Any consumer may look; nothing is stored for it.
  const startAt = storedOffset === undefined ? "first" : { offset: storedOffset + 1n };
  const { messages } = await client.pollMessages({ ...place, consumer: 0, startAt, count: 1 });
  const [oldest] = messages;
  if (oldest === undefined) return { partitionId, storedOffset, logEnd, messages: 0n, behindMs: 0 };
  const behindMs = Math.max(0, Date.now() - Number(oldest.timestamp / MICROS_PER_MILLI));
  // Messages that retention took are nobody's to read any more.
  return { partitionId, storedOffset, logEnd, messages: logEnd - oldest.offset + 1n, behindMs };
}
