import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { ForwardedOps } from "../forwarding/forwarded-ops.ts";
import type { PartitionGroup } from "../partition-group.ts";
import type { SeenRequest } from "../partition-handle.ts";
import type { PartitionHost } from "../partition-host.ts";

/** Takes whether a request was seen, or the code when nobody could tell; called once. */
export type SeenDone = (isSeen: boolean | number) => void;

/** What the search for a request needs of the host of a partition. */
type SeenHost = Pick<PartitionHost, "clock" | "admissionTimeoutMs" | "forwardedOps">;

/**
 * Tells whether a request is under way or remembered in a partition: at once where this node leads it. Where
 * it does not, the node that leads is asked: what is only in the journal here may never be committed.
 *
 * A partition that is being opened knows nothing yet: it is waited for, as long as operations wait for room.
 * One that is not open then, or could not be opened, or is taken out of use, cannot tell: 58. "Not seen" of
 * a partition that is merely not there would let the request be stored a second time.
 */
export function findSeen(group: PartitionGroup, host: SeenHost, request: SeenRequest, done: SeenDone): void {
  afterOpening(group, host, () => {
    const { forwardedOps } = host;
    const isElsewhere = group.isBackup && !group.isClosed;
    if (!isElsewhere || forwardedOps === undefined) findSeenHere(group, forwardedOps, request, done);
    else if (group.repetitions.hasCommitted(request)) done(true);
    else forwardedOps.findSeen(group, request, done);
  });
}

/**
 * The same of a partition that this node leads, as far as it knows. When it has seen nothing, see
 * `Repetitions.lookFor`; and what it has not seen another may have, which leads a later view without its
 * knowledge; and then what is under way here will not be committed. So neither counts before the others have
 * said that they are in its view. Who has not heard yet what is committed of its journal cannot tell either.
 */
export function findSeenHere(
  group: PartitionGroup,
  forwardedOps: Pick<ForwardedOps, "confirmLead"> | undefined,
  request: SeenRequest,
  done: SeenDone,
): void {
  const cannotTell = () => group.isClosed || group.partition === undefined || group.isAhead;
  if (cannotTell()) done(ErrorCode.TransientNotAccepted);
  else if (forwardedOps === undefined) done(group.repetitions.lookFor(request));
  else if (group.repetitions.hasCommitted(request)) done(true);
  else {
    forwardedOps.confirmLead(group, (isConfirmed) => {
      if (isConfirmed && !cannotTell()) done(group.repetitions.lookFor(request));
      else done(ErrorCode.TransientNotAccepted);
    });
  }
}

/** Decides once the partition is open or has failed to open, or that has taken too long. */
function afterOpening(
  group: PartitionGroup,
  { clock, admissionTimeoutMs }: Pick<SeenHost, "clock" | "admissionTimeoutMs">,
  decide: () => void,
): void {
  if (!group.isOpening) {
    decide();
    return;
  }
  let isDecided = false;
  const decideOnce = () => {
    if (isDecided) return;
    isDecided = true;
    timer.cancel();
    decide();
  };
  const timer = clock.setTimer(admissionTimeoutMs, decideOnce);
  group.afterOpen(decideOnce);
}

/**
 * Makes the listener to so many answers of partitions, or of shards, to the question who has seen a request.
 * @param found  called once: with the first that has, at once; with a code when none has, and one could not
 *               tell; with nothing when all have answered, and none has
 */
export function firstSeen<Where extends object>(
  answersCount: number,
  found: (where: Where | CodedError | undefined) => void,
): (where: Where | CodedError | undefined) => void {
  let [waitsFor, isFound] = [answersCount, false];
  let refusal: CodedError | undefined;
  if (answersCount === 0) found(undefined);
  return (where) => {
    waitsFor -= 1;
    if (isFound) return;
    const isRefused = isCodedError(where);
    if (isRefused) refusal = where;
    isFound = waitsFor === 0 || (where !== undefined && !isRefused);
    if (isFound) found(where ?? refusal);
  };
}

/** Asks partitions that this shard owns; calls back as `firstSeen` does. */
export function findSeenAmong<Where extends { findSeen(request: SeenRequest, done: SeenDone): void }>(
  partitions: readonly Where[],
  request: SeenRequest,
  found: (where: Where | CodedError | undefined) => void,
): void {
  const heard = firstSeen(partitions.length, found);
  for (const partition of partitions) {
    partition.findSeen(request, (isSeen) => {
      if (typeof isSeen === "number") heard(new CodedError(isSeen));
      else heard(isSeen ? partition : undefined);
    });
  }
}
