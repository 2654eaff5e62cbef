import { type CodedError, isCodedError } from "@millrace/errors";
import type { ReadResult } from "@millrace/storage";
import type { PartitionGroup } from "../partition-group.ts";
import type { PollDone, PollRequest } from "../partition-handle.ts";
import { type ShownPartition, shownPartition } from "../shown-partition.ts";
import { checkOffsetRoom } from "./offsets.ts";
import { type PollPosition, pollPosition } from "./poll-position.ts";
import { settledPartition } from "./settled-partition.ts";

/** See `PartitionHandle.poll`. Empty says "no more yet": where damage hides what there is, it is named. */
export function pollPartition(
  group: PartitionGroup,
  offsetsMax: number,
  request: PollRequest,
  done: PollDone,
): void {
  let partition: ShownPartition;
  let from: PollPosition;
  try {
    const isByOffset = request.strategy.kind !== "next";
    partition = isByOffset ? shownPartition(group) : settledPartition(group);
    from = request.count === 0 ? undefined : positionOf(partition, request);
    if (from !== undefined && request.needsOffsetRoom) checkOffsetRoom(partition, request.key, offsetsMax);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    done(error, undefined, 0);
    return;
  }
  const end = (error?: CodedError, result?: ReadResult) => finish(partition, done, error, result);
  if (from === undefined) end();
  else partition.read({ from, count: request.count, lengthMax: request.lengthMax }, end);
}

function positionOf(partition: ShownPartition, { strategy, key, count }: PollRequest): PollPosition {
  const stored = strategy.kind === "next" ? partition.consumerOffset(key.kind, key.id) : undefined;
  return pollPosition(strategy, partition, { count, stored });
}

function finish(partition: ShownPartition, done: PollDone, error?: CodedError, result?: ReadResult): void {
  const currentOffset = Math.max(0, partition.committedNextOffset - 1);
  if (error !== undefined || (result !== undefined && result.count > 0)) {
    done(error, result, currentOffset);
    return;
  }
  result?.release();
  done(partition.offsetsFault, undefined, currentOffset);
}
