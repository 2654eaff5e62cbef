import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Topic } from "@millrace/metadata";
import { REQUESTS_PER_CLIENT_MAX } from "@millrace/storage";
import { handleOf } from "../admission/find-target.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import { hasLeft } from "../sessions/has-left.ts";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";

/**
 * Where a send went before, when it may be a repetition whose partition is the server's to choose: the turn
 * has moved on since.
 *
 * What this connection sent itself and was told to be unsure of goes where it went. Only numbers that the
 * client gave out before its login can be repetitions of what an earlier session sent, or the first 128 where
 * the login did not tell: only for those the topic's partitions are looked through.
 *
 * Where other shards or nodes have to be asked, nothing further of the connection begins until they have
 * answered, so that it does not overtake the send. When its client has left by then the send is dropped: it
 * may have sent it elsewhere, and other nodes than were asked may lead by now.
 * @param found  called with the partition's id, or nothing, or 57 or 58 when it could not be told, once:
 *               within the call when nobody has to be asked
 */
export function partitionOfRepetition(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  topic: Topic,
  found: (partitionId: number | CodedError | undefined) => void,
): void {
  const before = session.unsureSends?.partitionOf(request.number, topic);
  if (before !== undefined || !mayRepeat(request, session)) {
    found(before);
    return;
  }
  const { client, user } = session;
  const asked = { client, user, request: request.number, session: session.session };
  const { connection } = request;
  const handles = topic.partitions.map((partition) => handleOf(shard, topic, partition));
  let [isFound, isHalted] = [false, false];
  shard.partitions.findSeen(handles, asked, (handle) => {
    isFound = true;
    if (hasLeft(shard, connection, session)) found(left());
    else found(isCodedError(handle) ? handle : handle?.identity.partitionId);
    if (isHalted) connection.goOn();
  });
  if (isFound) return;
  isHalted = true;
  connection.halt();
}

/** Nobody hears of it. */
function left(): CodedError {
  return new CodedError(ErrorCode.TransientNotAccepted, "The client of the send has left.");
}

function mayRepeat(request: ClientRequest, session: Session): boolean {
  if (!session.countsRequests) return false;
  const { number } = request;
  session.repeatsBelow ??= number + BigInt(REQUESTS_PER_CLIENT_MAX);
  return number < session.repeatsBelow;
}
