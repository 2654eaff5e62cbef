import { CodedError, ErrorCode } from "@millrace/errors";
import {
  BATCH_HEADER_LENGTH,
  HEADER_LENGTH,
  type Lease,
  messageCountAt,
  offsetDeltaAt,
} from "@millrace/framing";
import {
  type DecodedSendMetadata,
  decodeBody,
  decodeSendMetadata,
  type SendMetadata,
} from "@millrace/protocol";
import type { PartitionGroup } from "../partition-plane/partition-group.ts";
import { choosePartition } from "../routing/choose-partition.ts";
import { partitionOfRepetition } from "../routing/partition-of-repetition.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";
import { checkPermission } from "./check-permission.ts";
import { groupOf, type TopicPlace } from "./find-target.ts";
import { leaseInKernelMemory } from "./kernel-lease.ts";
import { SendRoute } from "./send-route.ts";

/** A send that may be queued. */
export interface AdmittedSend {
  readonly group: PartitionGroup;
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
 * @throws CodedError with one of these codes, or 58 when there is no memory to verify in
 * @see wire-protocol section 9.4
 */
export function checkSend(shard: Shard, request: ClientRequest, session: Session): AdmittedSend {
  const { messageLease } = request;
  const { group, batchPosition, messagesCount } = checkTarget(shard, request, session);
  const batchLength = messageLease.length - batchPosition;
  const batchLease = leaseInKernelMemory(shard.pool, messageLease, batchPosition, batchLength);
  try {
    checkBatch(shard, batchLease, messagesCount);
  } catch (error) {
    batchLease.release();
    throw error;
  }
  return { group, batchLease, messagesCount };
}

/** Checks 1 to 3, or nothing when the connection's last send had the same target, see `SendRoute`. */
function checkTarget(
  shard: Shard,
  request: ClientRequest,
  session: Session,
): Omit<AdmittedSend, "batchLease"> & { readonly batchPosition: number } {
  const { messageLease, connection } = request;
  const { commit } = shard.metadata;
  const known = connection.sendRoute;
  if (known?.leads(messageLease, session, commit) === true) {
    const { group, batchPosition } = known;
    return { group, batchPosition, messagesCount: known.messagesCountIn(messageLease) };
  }
  const metadata = decodeBody(decodeSendMetadataOfMessage, messageLease.bytes);
  const { batchPosition, messagesCount, partitioning } = metadata;
  const { group, place } = findSendTarget(shard, request, session, metadata);
  checkPermission(shard, session, "send", { stream: place.stream.id, topic: place.topic.id });
  const isStated = partitioning.kind === "partition";
  connection.sendRoute = isStated
    ? SendRoute.of(messageLease, batchPosition, { group, session, commit })
    : undefined;
  return { group, batchPosition, messagesCount };
}

/** The metadata of a whole message; `batchPosition` then counts from the message's start. */
function decodeSendMetadataOfMessage(message: Uint8Array): DecodedSendMetadata {
  return decodeSendMetadata(message, HEADER_LENGTH);
}

function findSendTarget(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  metadata: SendMetadata,
): { group: PartitionGroup; place: TopicPlace } {
  const stream = shard.catalog.findStream(metadata.stream);
  const topic = stream && shard.catalog.findTopic(stream, metadata.topic);
  const { partitioning } = metadata;
  const isFree = partitioning.kind !== "partition";
  const before = isFree && topic ? partitionOfRepetition(shard, request, session, topic) : undefined;
  const partition = before ?? (topic && choosePartition(topic, partitioning, shard));
  if (stream === undefined || topic === undefined || partition === undefined) {
    throw new CodedError(ErrorCode.ResourceNotFound, "Stream, topic or partition does not exist.");
  }
  return { group: groupOf(shard, topic, partition), place: { stream, topic } };
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
