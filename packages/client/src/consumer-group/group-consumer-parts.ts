import { ErrorCode, isCodedError } from "@millrace/errors";
import type { GroupCalls } from "../admin/group-calls.ts";
import { offsetTarget } from "../admin/offset-calls.ts";
import { checkedMs, checkedNumber } from "../client-options.ts";
import type { ClientPlatform } from "../client-platform.ts";
import type { Session } from "../connection/session.ts";
import { ConsumerEvents } from "../consumer/consumer-events.ts";
import { COUNT_BOUNDS } from "../consumer/consumer-parts.ts";
import { OffsetCommits } from "../consumer/offset-commits.ts";
import { isOutOfTime } from "../consumer/out-of-time.ts";
import { pollMessages } from "../messages/poll.ts";
import type { GroupConsumerOptions, GroupConsumerParts } from "./group-consumer.ts";
import type { GroupEventFacts } from "./group-events.ts";
import { GroupSource } from "./group-source.ts";
import { type LastUsers, Membership } from "./membership.ts";
import { StallWatch } from "./stall-watch.ts";
import type { Tenure } from "./tenure.ts";

/** What a group consumer is built from. */
interface Surroundings {
  readonly session: Session;
  readonly calls: GroupCalls;
  readonly platform: ClientPlatform;
  readonly lastUsers: LastUsers;
}

/**
 * Builds the parts of a group consumer from its options.
 *
 * @throws CodedError InvalidArgument for an option outside its bounds
 */
export function createGroupConsumerParts(
  options: GroupConsumerOptions,
  surroundings: Surroundings,
): Omit<GroupConsumerParts, "onClosed"> {
  const { session, calls, platform, lastUsers } = surroundings;
  const { stream, topic, group } = options;
  offsetTarget({ stream, topic, consumer: { group } });
  const events = new ConsumerEvents<GroupEventFacts>();
  const mayCreate = options.createGroup ?? true;
  const membership = new Membership(calls, options, { mayCreate, lastUsers });
  const commits: OffsetCommits = new OffsetCommits({
    clock: platform.clock,
    intervalMs: checkedMs("commitIntervalMs", options.commitIntervalMs ?? 1000, 0),
    countMax: checkedNumber("commitCount", options.commitCount ?? 1000, { min: 1, isWhole: true }),
    store: (partitionId, offset) => storeForGroup({ options, calls, source }, partitionId, offset),
    isConnected: () => session.isConnected,
    isEnded: () => session.endError !== undefined,
  });
  // An owner may repeat a commit; who is not the owner any more hears it before the next message.
  const onGivingUp = (tenure: Tenure) =>
    void commits.commitAgain(tenure.partitionId, () => tenure.lastStored);
  const onRestarted = (partitionId: number) => commits.forget(partitionId);
  const parts = { membership, events, onGivingUp, onRestarted };
  const source: GroupSource = createSource(options, surroundings, parts);
  const release = () => leave(session, membership);
  return { source, commits, events, release, clock: platform.clock, scope: platform.createScope() };
}

/** Leaves the group. Without a connection nobody waits for that; it happens with the next one. */
async function leave(session: Session, membership: Membership): Promise<void> {
  const left = leaveAtLast(session, membership);
  if (session.isConnected) await left;
  else left.catch(() => {});
}

/**
 * A server that came back still knows the members it had: one that could not tell it that he left would hold
 * his partitions as long as his client lives. The end of the client is a leave too. A client that uses the
 * group again meanwhile is the same member there, and does not leave before that consumer does.
 */
async function leaveAtLast(session: Session, membership: Membership): Promise<void> {
  try {
    await membership.leave();
  } catch (error) {
    if (!isOutOfTime(error)) throw error;
    if (session.endError !== undefined) return;
    const end = session.events.on("connected", () => {
      end();
      if (membership.isSuperseded) return;
      leaveAtLast(session, membership).catch(() => {});
    });
    // A server that is there and refuses: whoever closes is to know.
    if (session.isConnected && isCodedError(error.cause, ErrorCode.TransientNotAccepted)) throw error;
  }
}

function createSource(
  options: GroupConsumerOptions,
  { session, calls, platform }: Surroundings,
  parts: {
    readonly membership: Membership;
    readonly events: ConsumerEvents<GroupEventFacts>;
    readonly onGivingUp: (tenure: Tenure) => void;
    readonly onRestarted: (partitionId: number) => void;
  },
): GroupSource {
  const { stream, topic, group } = options;
  const { clock } = platform;
  const autoCommit = options.commit === "auto";
  const consumer = { group };
  const stalledAfterMs = checkedMs("stalledAfterMs", options.stalledAfterMs ?? 35_000, 1);
  const onStalled = (facts: Parameters<typeof parts.events.emit<"stalled">>[1]) =>
    parts.events.emit("stalled", facts);
  return new GroupSource({
    ...parts,
    clock,
    stallWatch: new StallWatch({ clock, calls, place: options, stalledAfterMs, onStalled }),
    startAt: options.startAt ?? "first",
    countMax: checkedNumber("batchCountMax", options.batchCountMax ?? 1000, COUNT_BOUNDS),
    pollIntervalMs: checkedMs("pollIntervalMs", options.pollIntervalMs ?? 10, 1),
    syncIntervalMs: checkedMs("syncIntervalMs", options.syncIntervalMs ?? 1000, 1),
    pollsAhead: !autoCommit,
    poll: (partitionId, startAt, count) =>
      pollMessages(session, { stream, topic, consumer, partitionId, startAt, count, autoCommit }),
    storedOffset: async (partitionId) => {
      const offset = await calls.getConsumerOffset({ stream, topic, consumer, partitionId });
      return offset === undefined ? undefined : Number(offset.storedOffset);
    },
    isEnded: () => session.endError !== undefined,
  });
}

/** What commits of a group work with. */
interface Commits {
  readonly options: GroupConsumerOptions;
  readonly calls: GroupCalls;
  readonly source: GroupSource;
}

/**
 * Stores an offset for the group. A refusal because somebody else owns the partition ends the tenure and is
 * no error: what is behind the group's offset comes again there. An offset beyond the end is from before a
 * purge.
 */
async function storeForGroup(parts: Commits, partitionId: number, offset: number): Promise<void> {
  const { options, calls, source } = parts;
  const { stream, topic, group } = options;
  const place = { stream, topic, consumer: { group }, partitionId };
  try {
    const isOfThisTenure = source.tenureOf(partitionId)?.hasPolled === true;
    if (!isOfThisTenure) {
      // From before a lost connection: others may have gone on since, and must not be set back.
      const stored = await calls.getConsumerOffset(place);
      if (stored !== undefined && stored.storedOffset >= BigInt(offset)) return;
    }
    await calls.storeConsumerOffset({ ...place, offset: BigInt(offset) });
    source.stored(partitionId, offset);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    if (error.code === ErrorCode.InvalidOffset) source.restart(partitionId);
    else if (NOT_OURS.has(error.code)) source.lose(partitionId);
    else throw error;
  }
}

/** Answers to a commit that say: the partition, or the group, is not this member's any more. */
const NOT_OURS: ReadonlySet<number> = new Set<number>([
  ErrorCode.ResourceNotFound,
  ErrorCode.PartitionNotFound,
  ErrorCode.ConsumerGroupIdNotFound,
]);
