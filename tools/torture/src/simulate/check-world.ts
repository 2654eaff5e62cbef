import { ErrorCode } from "@millrace/errors";
import {
  decodeGetConsumerOffsetReply,
  decodeGetStreamsReply,
  decodeGetTopicsReply,
  decodePollMessagesReply,
  encodeGetConsumerOffset,
  encodeGetTopics,
  encodePollMessages,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";
import type { StreamState, TopicState } from "../oracle/catalog-state.ts";
import { Violation } from "../oracle/violation.ts";
import { NO_ANSWER, type SimClient } from "./sim-client.ts";
import { type FoundMessage, messagesIn } from "./sim-content.ts";
import { STREAM, targetOf, type World, type WorldPartition, type WorldTopic } from "./world.ts";

/** Messages asked for at once: several polls a partition. */
const COUNT = 50;
/** Offsets behind the last known batch that damage may hide. */
const HIDDEN_MAX = 64;

/** A poll's answer: messages, or the code it was refused with. */
export interface Polled {
  readonly code: number;
  readonly messages: readonly FoundMessage[];
}

/** Polls a partition as an individual consumer. */
export async function poll(
  client: SimClient,
  { topic, id }: WorldPartition,
  asked: Pick<PollMessages, "strategy" | "count">,
): Promise<Polled> {
  const consumer = { kind: "consumer", id: toIdentifier(9) } as const;
  const body = { ...targetOf(topic), consumer, partitionId: id, autoCommit: false, ...asked };
  const { code, payload } = await client.command("PollMessages", encodePollMessages(body));
  if (code !== 0) return { code, messages: [] };
  return { code, messages: messagesIn(decodePollMessagesReply(payload).batches) };
}

/** Compares everything a server shows with what is known. @throws Violation */
export async function checkWorld(world: World, client: SimClient): Promise<void> {
  await checkCatalog(world, client);
  for (const topic of world.topics) await checkPurge(topic, client);
  for (const partition of world.partitions) {
    await readWhole(partition, client);
    for (const { consumer, ledger } of partition.offsets) {
      const body = { ...targetOf(partition.topic), consumer, partitionId: partition.id };
      const { code, payload } = await client.command("GetConsumerOffset", encodeGetConsumerOffset(body));
      if (code === 0) ledger.see(decodeGetConsumerOffsetReply(payload)?.storedOffset);
      else if (code !== ErrorCode.PartitionDamaged || !ledger.mayBeInDoubt)
        throw new Violation("answer", `the offset of ${ledger.name} is answered with ${code}`);
    }
  }
}

async function checkCatalog(world: World, client: SimClient): Promise<void> {
  const state: Record<string, StreamState> = {};
  for (const { id, name } of decodeGetStreamsReply((await answered(client, "GetStreams")).payload)) {
    if (name === STREAM) continue;
    const topics: Record<string, TopicState> = {};
    const body = encodeGetTopics({ stream: toIdentifier(name) });
    for (const topic of decodeGetTopicsReply((await answered(client, "GetTopics", body)).payload)) {
      const { messagesCount, partitionsCount } = topic;
      topics[topic.name] = { id: topic.id, partitionsCount, messagesCount };
    }
    state[name] = { id, topics };
  }
  world.catalog.see(state);
}

async function answered(client: SimClient, name: "GetStreams" | "GetTopics", body?: Uint8Array) {
  const answer = await client.command(name, body);
  if (answer.code === 0) return answer;
  throw new Violation("answer", `${name} is answered with ${answer.code}`);
}

/**
 * A purge without an answer happened to all partitions of its topic or to none. Those whose damage puts it
 * off say nothing.
 */
async function checkPurge(topic: WorldTopic, client: SimClient): Promise<void> {
  let [isPurged, isNot] = [false, false];
  for (const partition of topic.partitions) {
    const { messages } = partition;
    if (!messages.mayBePurged) continue;
    const first = await poll(client, partition, { strategy: { kind: "first" }, count: 1 });
    const isEmpty = first.code === 0 && first.messages.length === 0;
    if (!partition.isHarmed) {
      isNot ||= !isEmpty;
      isPurged ||= isEmpty && messages.isFilled;
      if (!isEmpty) messages.forgetPurge();
    }
    if (isEmpty) purgePartition(partition);
  }
  if (isPurged && isNot) throw new Violation("lost", `a purge emptied some partitions of ${topic.name} only`);
}

/** Notes that a partition is empty and has no stored offsets. */
export function purgePartition({ messages, offsets }: WorldPartition): void {
  messages.purge();
  for (const { ledger } of offsets) ledger.purge();
}

/**
 * Reads all of a partition, and again while its beginning goes in the meantime: what was read first is gone
 * then like what was missed behind it, and only a read of what is left tells a loss from that.
 */
async function readWhole(partition: WorldPartition, client: SimClient): Promise<void> {
  const { messages: ledger } = partition;
  for (;;) {
    ledger.beginRead();
    const read = await readOnce(partition, client);
    if (read === undefined) return;
    if (ledger.isHoled(read.damaged) && (await hasMovedOn(partition, client, read.first))) continue;
    ledger.endRead(read.damaged);
    return;
  }
}

/** Offset of the first message, and those answered with the code of damage; nothing without an answer. */
async function readOnce(partition: WorldPartition, client: SimClient) {
  const { messages: ledger } = partition;
  const damaged: number[] = [];
  let first: number | undefined;
  for (let offset = 0; ; ) {
    const strategy = { kind: "offset", offset: BigInt(offset) } as const;
    const { code, messages } = await poll(client, partition, { strategy, count: COUNT });
    if (code === NO_ANSWER) return undefined;
    if (code === ErrorCode.PartitionDamaged && partition.isHarmed) {
      damaged.push(offset);
      const batch = ledger.batchFrom(offset);
      offset = batch !== undefined && batch.base <= offset ? batch.base + batch.lengths.length : offset + 1;
      if (offset > ledger.end + HIDDEN_MAX) break;
    } else if (code !== 0) {
      throw new Violation("answer", `${ledger.name} offset ${offset} is answered with ${code}`);
    } else if (messages.length === 0) {
      if (ledger.provesPurge(offset)) purgePartition(partition);
      break;
    } else {
      first ??= messages[0]?.offset;
      offset = seeAll(ledger, messages, offset);
    }
  }
  return { first, damaged };
}

/** True when what was read first is not there any more. */
async function hasMovedOn(partition: WorldPartition, client: SimClient, first = 0): Promise<boolean> {
  const strategy = { kind: "offset", offset: BigInt(first) } as const;
  const { code, messages } = await poll(client, partition, { strategy, count: 1 });
  return code === 0 && messages[0]?.offset !== first;
}

/** Judges the messages of one poll from `offset` on; answers where the next begins. */
export function seeAll(
  ledger: WorldPartition["messages"],
  messages: readonly FoundMessage[],
  offset: number,
): number {
  let next = offset;
  for (const message of messages) {
    if (message.offset < next)
      throw new Violation("order", `${ledger.name}: ${message.offset} follows ${next - 1}`);
    next = message.offset + 1;
    ledger.see(message);
    ledger.count(message.number);
  }
  return next;
}
