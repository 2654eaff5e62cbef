import { CodedError, ErrorCode } from "@millrace/errors";
import { type OffsetCalls, offsetTarget } from "../admin/offset-calls.ts";
import { checkedMs, checkedNumber, type NumberBounds } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import type { Session } from "../connection/session.ts";
import { pollMessages } from "../messages/poll.ts";
import type { ConsumerOptions, ConsumerParts } from "./consumer.ts";
import { type ConsumerEventFacts, ConsumerEvents, skippedFacts } from "./consumer-events.ts";
import { MessageSource } from "./message-source.ts";
import { OffsetCommits } from "./offset-commits.ts";

/** How many messages one poll may ask for: 32 bits on the wire. */
export const COUNT_BOUNDS: NumberBounds = { min: 1, max: 4_294_967_295, isWhole: true };

async function listPartitions(options: ConsumerOptions, calls: OffsetCalls): Promise<readonly number[]> {
  const topic = await calls.getTopic(options.stream, options.topic);
  if (topic !== undefined) return topic.partitions.map((partition) => partition.id);
  throw new CodedError(
    ErrorCode.TopicIdNotFound,
    "The stream or topic to read does not exist; create it first or check the names.",
  );
}

function createSource(
  options: ConsumerOptions,
  surroundings: { readonly session: Session; readonly calls: OffsetCalls; readonly platform: ClientPlatform },
  parts: { readonly commits: OffsetCommits; readonly events: ConsumerEvents<ConsumerEventFacts> },
): MessageSource {
  const { partitions, stream, topic, consumer } = options;
  const { session, calls, platform } = surroundings;
  const { commits, events } = parts;
  const autoCommit = options.commit === "auto";
  return new MessageSource({
    clock: platform.clock,
    startAt: options.startAt ?? "next",
    countMax: checkedNumber("batchCountMax", options.batchCountMax ?? 1000, COUNT_BOUNDS),
    pollIntervalMs: checkedMs("pollIntervalMs", options.pollIntervalMs ?? 10, 1),
    // With auto-commit a batch polled ahead would count as read before anybody saw it.
    pollsAhead: !autoCommit,
    listPartitions: async () => partitions ?? listPartitions(options, calls),
    areFixed: partitions !== undefined,
    poll: async (partitionId, startAt, count) => {
      const place = { stream, topic, consumer, partitionId };
      const reply = await pollMessages(session, { ...place, startAt, count, autoCommit });
      return { messages: reply.messages, currentOffset: Number(reply.currentOffset) };
    },
    storedOffset: async (partitionId) => {
      const offset = await calls.getConsumerOffset({ stream, topic, consumer, partitionId });
      return offset === undefined ? undefined : Number(offset.storedOffset);
    },
    onRefused: (facts) => events.emit("refused", facts),
    onRestart: (partitionId) => commits.forget(partitionId),
    onSkipped: (partitionId, expected, found) =>
      events.emit("skipped", skippedFacts(partitionId, expected, found)),
    isEnded: () => session.endError !== undefined,
  });
}

/**
 * Builds the parts of a consumer from its options.
 *
 * @throws CodedError InvalidArgument for an option outside its bounds, InvalidIdentifier for a name
 */
export function createConsumerParts(
  options: ConsumerOptions,
  session: Session,
  calls: OffsetCalls,
  platform: ClientPlatform,
): Omit<ConsumerParts, "onClosed"> {
  const { stream, topic, consumer } = options;
  offsetTarget(options);
  const commits = new OffsetCommits({
    clock: platform.clock,
    intervalMs: checkedMs("commitIntervalMs", options.commitIntervalMs ?? 1000, 0),
    countMax: checkedNumber("commitCount", options.commitCount ?? 1000, { min: 1, isWhole: true }),
    store: (partitionId, offset) =>
      calls.storeConsumerOffset({ stream, topic, consumer, partitionId, offset: BigInt(offset) }),
    isConnected: () => session.isConnected,
    isEnded: () => session.endError !== undefined,
  });
  const events = new ConsumerEvents<ConsumerEventFacts>();
  const source = createSource(options, { session, calls, platform }, { commits, events });
  return { source, commits, events, clock: platform.clock, scope: platform.createScope() };
}
