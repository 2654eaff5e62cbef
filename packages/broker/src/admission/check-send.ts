import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  BATCH_HEADER_LENGTH,
  HEADER_LENGTH,
  type Lease,
  messageCountAt,
  offsetDeltaAt,
} from "@millrace/framing";
import { findPartition } from "@millrace/metadata";
import {
  type DecodedSendMetadata,
  decodeBody,
  decodeSendMetadata,
  type SendMetadata,
} from "@millrace/protocol";
import { refusingErrors } from "../commands/handler.ts";
import type { PartitionHandle } from "../partition-plane/partition-handle.ts";
import { choosePartition } from "../routing/choose-partition.ts";
import { partitionOfRepetition } from "../routing/partition-of-repetition.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";
import { checkPermission } from "./check-permission.ts";
import { handleOf, type TopicPlace } from "./find-target.ts";
import { leaseInKernelMemory } from "./kernel-lease.ts";
import { SendRoute } from "./send-route.ts";

/** A send that may be queued. */
export interface AdmittedSend {
  readonly handle: PartitionHandle;
  /** The verified, unstamped batch in the kernel's memory, held once for whoever takes the send. */
  readonly batchLease: Lease;
  readonly messagesCount: number;
}

/**
 * Everything that is checked before a send is queued, in the order in which its first failure wins.
 *
 * 1. The metadata in front of the batch decodes and fills exactly the length it announces: else 3.
 * 2. Stream and topic exist and a partition comes of the partitioning: else 20.
 * 3. The user may send: else 41.
 * 4. The batch is whole and intact, see `ChecksumKernel.verifyBatch`: else 3, 4027 or 4039.
 * 5. It holds as many messages as the metadata says, and their offset deltas begin at 0: else 3.
 *
 * What the content of a message means (payload, user headers, id, origin time) is not checked. Offset deltas
 * are: readers add them to the base offset, so a hostile one would lead them past everything (ADR 0030).
 * @param admitted  takes the send: within the call, but for one that may be a repetition of which other
 *                  shards or nodes have to be asked; what fails then answers the request
 * @throws CodedError with one of these codes, or 58 when there is no memory to verify in
 * @see wire-protocol section 9.4
 */
export function checkSend(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  admitted: (shard: Shard, request: ClientRequest, session: Session, send: AdmittedSend) => void,
): void {
  const { messageLease, connection } = request;
  const known = connection.sendRoute;
  if (known?.leads(messageLease, session, shard.metadata.commit) === true) {
    const send = takeBatch(shard, messageLease, known, known.messagesCountIn(messageLease));
    admitted(shard, request, session, send);
    return;
  }
  findTarget(shard, request, session, (target) =>
    admitted(shard, request, session, takeBatch(shard, messageLease, target, target.messagesCount)),
  );
}

/** Checks 4 and 5. */
function takeBatch(
  shard: Shard,
  messageLease: Lease,
  { handle, batchPosition }: Pick<SendTarget, "handle" | "batchPosition">,
  messagesCount: number,
): AdmittedSend {
  const batchLength = messageLease.length - batchPosition;
  const batchLease = leaseInKernelMemory(shard.pool, messageLease, batchPosition, batchLength);
  try {
    checkBatch(shard, batchLease, messagesCount);
  } catch (error) {
    batchLease.release();
    throw error;
  }
  return { handle, batchLease, messagesCount };
}

/** Where a send goes, and where in it the batch begins. */
interface SendTarget {
  readonly handle: PartitionHandle;
  readonly batchPosition: number;
  readonly messagesCount: number;
}

/** Checks 1 to 3, which the connection's last send has passed when it had the same target, see `SendRoute`. */
function findTarget(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  found: (target: SendTarget) => void,
): void {
  const { messageLease, connection } = request;
  const metadata = decodeBody(decodeSendMetadataOfMessage, messageLease.bytes);
  const { batchPosition, messagesCount, partitioning } = metadata;
  const lookUp = (partitionBefore?: number | CodedError) => {
    if (isCodedError(partitionBefore)) throw partitionBefore;
    const { handle, place } = findSendTarget(shard, metadata, partitionBefore);
    checkPermission(shard, session, "send", { stream: place.stream.id, topic: place.topic.id });
    const { commit } = shard.metadata;
    const isStated = partitioning.kind === "partition";
    connection.sendRoute = isStated
      ? SendRoute.of(messageLease, batchPosition, { handle, session, commit })
      : undefined;
    found({ handle, batchPosition, messagesCount });
  };
  const topic = findSendPlace(shard, metadata)?.topic;
  if (partitioning.kind === "partition" || topic === undefined) lookUp();
  else {
    partitionOfRepetition(shard, request, session, topic, (partitionId) =>
      refusingErrors(shard, request, () => lookUp(partitionId)),
    );
  }
}

/** The metadata of a whole message; `batchPosition` then counts from the message's start. */
function decodeSendMetadataOfMessage(message: Uint8Array): DecodedSendMetadata {
  return decodeSendMetadata(message, HEADER_LENGTH);
}

function findSendPlace(shard: Shard, metadata: SendMetadata): TopicPlace | undefined {
  const stream = shard.catalog.findStream(metadata.stream);
  const topic = stream && shard.catalog.findTopic(stream, metadata.topic);
  return stream && topic && { stream, topic };
}

/** @param partitionBefore  where the send went before, if it is a repetition */
function findSendTarget(
  shard: Shard,
  metadata: SendMetadata,
  partitionBefore: number | undefined,
): { handle: PartitionHandle; place: TopicPlace } {
  const place = findSendPlace(shard, metadata);
  if (place !== undefined) {
    const { topic } = place;
    const before = partitionBefore === undefined ? undefined : findPartition(topic, partitionBefore);
    const partition = before ?? choosePartition(topic, metadata.partitioning, shard);
    if (partition !== undefined) return { handle: handleOf(shard, topic, partition), place };
  }
  throw new CodedError(ErrorCode.ResourceNotFound, "Stream, topic or partition does not exist.");
}

function checkBatch(shard: Shard, batchLease: Lease, messagesCount: number): void {
  const { kernel } = shard;
  const fault = kernel.verifyBatch(batchLease.position, batchLease.length);
  if (fault !== undefined) {
    throw new CodedError(fault.code, "The batch is not intact.", {
      details: { frame: fault.index, position: fault.position },
    });
  }
  const { view } = kernel.memory;
  if (messageCountAt(view, batchLease.position) !== messagesCount) {
    throw new CodedError(
      ErrorCode.InvalidCommand,
      "The batch holds another number of messages than announced.",
    );
  }
  const position = batchLease.position + BATCH_HEADER_LENGTH;
  if (offsetDeltaAt(view, position) === 0) return;
  throw new CodedError(ErrorCode.InvalidCommand, "The offset deltas of a batch begin at 0.");
}
