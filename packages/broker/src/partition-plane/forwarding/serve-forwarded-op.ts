import { ErrorCode } from "@millrace/errors";
import { BATCH_HEADER_LENGTH, type BlockPool } from "@millrace/framing";
import { Operation } from "@millrace/protocol";
import type { Truncation } from "../../retention/truncation.ts";
import type { LocalPartition } from "../local-partition.ts";
import type { ClientOp, OffsetKey } from "../partition-handle.ts";
import type { ReceivedBody } from "../partition-replication.ts";
import { leaseOfReceived } from "../received-lease.ts";
import { isInView } from "./confirmed-lead.ts";
import {
  decodeCountOrder,
  decodeOffsetWrite,
  decodePurgeGeneration,
  ForwardedKind,
  type ForwardedOp,
  type ForwardedOpAnswer,
  type OffsetWrite,
} from "./forwarded-op.ts";

/** A forwarded operation at the node it was passed on to. */
export interface ServedOp {
  readonly op: ForwardedOp;
  /** Its body; lent for the call. */
  readonly body: ReceivedBody;
  readonly pool: BlockPool;
  /** True when whose offset it is was a consumer group of the topic and is gone: the sender did not know. */
  isGone(key: OffsetKey): boolean;
  /** Tells of segments that went. */
  removed(truncation: Truncation): void;
  /** Called once. */
  answer(answer: ForwardedOpAnswer): void;
}

/**
 * Does what another node passed on, when this one is primary of the partition's group in the view that the
 * sender named; else it answers 58, and so it does where there is no memory for a batch. A purge was decided
 * on elsewhere and is taken in any view; who leads a view asks the others whether they are in it.
 */
export function serveForwardedOp(partition: LocalPartition | undefined, served: ServedOp): void {
  const { op, answer } = served;
  if (partition !== undefined && op.kind === ForwardedKind.purge) {
    void purge(partition, served).then(answer);
    return;
  }
  if (partition !== undefined && op.kind === ForwardedKind.confirmLead) {
    answer(confirmLead(partition, op));
    return;
  }
  const isLed = partition?.group.isPrimary === true && partition.group.replica?.view === op.view;
  if (partition === undefined || !isLed) {
    answer({ kind: "refused", code: ErrorCode.TransientNotAccepted });
    return;
  }
  switch (op.kind) {
    case ForwardedKind.append:
      append(partition, served);
      break;
    case ForwardedKind.findSeen:
      findSeen(partition, served);
      break;
    case ForwardedKind.truncate:
      truncate(partition, served);
      break;
    default:
      writeOffset(partition, served);
  }
}

/** The sender has verified the batch; one that is no batch at all would be stamped beside its memory. */
function append(partition: LocalPartition, served: ServedOp): void {
  if (served.op.body.length < BATCH_HEADER_LENGTH) {
    served.answer({ kind: "refused", code: ErrorCode.InvalidCommand });
    return;
  }
  const batchLease = leaseOfReceived(served.pool, served.body);
  if (batchLease === undefined) {
    served.answer({ kind: "refused", code: ErrorCode.TransientNotAccepted });
    return;
  }
  partition.append({
    ...clientOpOf(served),
    operation: Operation.SendMessages,
    session: served.op.session,
    batchLease,
    isPassedOn: true,
  });
}

/**
 * The sender has executed the decision, so it counts here too, in whatever view. Only who leads the group can
 * say that the purge is committed, so that nothing sent later is taken by it.
 */
async function purge(
  partition: LocalPartition,
  { op, body }: Pick<ServedOp, "op" | "body">,
): Promise<ForwardedOpAnswer> {
  const generation = decodePurgeGeneration(body.bytes);
  if (generation === undefined) return { kind: "refused", code: ErrorCode.InvalidCommand };
  const { group } = partition;
  group.purges.decide(generation);
  if (!group.isPrimary) return { kind: "refused", code: ErrorCode.TransientNotAccepted };
  if (await partition.purge(generation)) return { kind: "nothing", op: 0, view: op.view };
  return { kind: "refused", code: ErrorCode.TransientNotCommitted };
}

/** What it says is committed here: the sender waits until it has that too. */
function truncate(partition: LocalPartition, { op, body, removed, answer }: ServedOp): void {
  const order = decodeCountOrder(body.bytes);
  if (order === undefined) {
    answer({ kind: "refused", code: ErrorCode.InvalidCommand });
    return;
  }
  partition.truncate(order, {
    removed(truncation) {
      removed(truncation);
      answer({ kind: "nothing", op: partition.group.partition?.committedOp ?? 0, view: op.view });
    },
    failed: (code) => answer({ kind: "refused", code }),
  });
}

/** What is not committed yet counts too: it will be, or the request that repeats it fails with it. */
function findSeen(partition: LocalPartition, { op, answer }: ServedOp): void {
  const place = { op: 0, view: op.view };
  const result = { ...place, baseOffset: 0, timestamp: 0, isRepeated: true };
  partition.findSeenHere(op, (isSeen) => {
    if (typeof isSeen === "number") answer({ kind: "refused", code: isSeen });
    else answer(isSeen ? { kind: "committed", result } : { kind: "nothing", ...place });
  });
}

/** The question may be as old as the way here is long; what counts is that it was asked before. */
function confirmLead({ group }: LocalPartition, { view }: ForwardedOp): ForwardedOpAnswer {
  if (isInView(group, view)) return { kind: "nothing", op: 0, view };
  return { kind: "refused", code: ErrorCode.TransientNotAccepted };
}

function writeOffset(partition: LocalPartition, served: ServedOp): void {
  const { op, body, answer, isGone } = served;
  const write = decodeOffsetWrite(body.bytes);
  const isForGone = write !== undefined && isGone(write.key);
  if (write === undefined || (isForGone && op.kind === ForwardedKind.moveOffset)) {
    const { InvalidCommand, ConsumerGroupIdNotFound } = ErrorCode;
    answer({ kind: "refused", code: write === undefined ? InvalidCommand : ConsumerGroupIdNotFound });
    return;
  }
  const refusal = isForGone ? ErrorCode.ConsumerGroupIdNotFound : write.refusal;
  const asked: ClientOp & OffsetWrite = { ...clientOpOf(served), ...write, refusal };
  const nothingToMove = () => {
    const { partition: stored } = partition.group;
    answer({ kind: "nothing", op: stored?.committedOp ?? 0, view: op.view });
  };
  if (op.kind === ForwardedKind.moveOffset) partition.storeOffsetForward(asked, nothingToMove);
  else if (op.kind === ForwardedKind.storeOffset) partition.storeOffset(asked);
  else partition.deleteOffset(asked);
}

function clientOpOf({ op, answer }: ServedOp): ClientOp {
  const { client, request, user, isNumbered } = op;
  return {
    ...{ client, request, user, isNumbered },
    committed: (result) => answer({ kind: "committed", result }),
    failed: (code) => answer({ kind: "refused", code }),
  };
}
