import { CodedError, ErrorCode } from "@millrace/errors";
import { decodePollMessagesReply, encodePollMessages, type PollingStrategy } from "@millrace/protocol";
import { type OffsetPlace, offsetTarget } from "../admin/offset-calls.ts";
import { checkedU32, checkedU64 } from "../client-options.ts";
import { requestCommand } from "../connection/requester.ts";
import type { Session } from "../connection/session.ts";
import { type ReceivedMessage, readMessages } from "./received-message.ts";

/** Where a poll starts. `timestamp` is micros since 1970 of the server's clock. */
export type PollStart =
  | "next"
  | "first"
  | "last"
  | { readonly offset: bigint | number }
  | { readonly timestamp: bigint | number };

/** One poll. */
export interface PollRequest extends OffsetPlace {
  /** Default `"next"`: behind the stored offset of this consumer. */
  readonly startAt?: PollStart;
  /** Most messages to return. Default 100. */
  readonly count?: number;
  /** Stores the offset of the last returned message for this consumer. Default false. */
  readonly autoCommit?: boolean;
}

/** What a poll found; no messages means: no more yet. */
export interface PolledMessages {
  readonly partitionId: number;
  /** Highest readable offset of the partition; 0 also when it is empty. */
  readonly currentOffset: bigint;
  readonly messages: readonly ReceivedMessage[];
}

const COUNT_DEFAULT = 100;

/** The strategy as the protocol writes it. */
export function strategyOf(start: PollStart): PollingStrategy {
  if (typeof start === "object" && start !== null) {
    if ("offset" in start) return { kind: "offset", offset: checkedU64("startAt.offset", start.offset) };
    return { kind: "timestamp", micros: checkedU64("startAt.timestamp", start.timestamp) };
  }
  if (start === "next" || start === "first" || start === "last") return { kind: start };
  const message = `startAt is "next", "first", "last", { offset } or { timestamp }.`;
  throw new CodedError(ErrorCode.InvalidArgument, message);
}

/**
 * Asks one partition for messages.
 *
 * @throws CodedError InvalidArgument, InvalidIdentifier, StreamIdNotFound, TopicIdNotFound, PartitionNotFound
 *         and the codes of a session
 */
export function pollMessages(session: Session, poll: PollRequest): Promise<PolledMessages> {
  const body = () =>
    encodePollMessages({
      ...offsetTarget(poll),
      strategy: strategyOf(poll.startAt ?? "next"),
      count: checkedU32("count", poll.count ?? COUNT_DEFAULT),
      autoCommit: poll.autoCommit ?? false,
    });
  return requestCommand(session, {
    command: "PollMessages",
    body,
    decode: (payload) => {
      const reply = decodePollMessagesReply(payload);
      return {
        partitionId: reply.partitionId,
        currentOffset: BigInt(reply.currentOffset),
        messages: readMessages(reply.batches),
      };
    },
  });
}
