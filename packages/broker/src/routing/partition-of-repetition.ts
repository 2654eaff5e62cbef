import type { Partition, Topic } from "@millrace/metadata";
import { REQUESTS_PER_CLIENT_MAX } from "@millrace/storage";
import { groupOf } from "../admission/find-target.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";

/**
 * Where a send went before, when it may be a repetition whose partition is the server's to choose: the turn
 * has moved on since.
 *
 * Only the first requests after a login can be repetitions of what an earlier connection sent, so only for
 * those the topic's partitions are looked through.
 */
export function partitionOfRepetition(
  shard: Shard,
  request: ClientRequest,
  session: Session,
  topic: Topic,
): Partition | undefined {
  if (!session.countsRequests) return undefined;
  const { number } = request;
  session.repeatsBelow ??= number + BigInt(REQUESTS_PER_CLIENT_MAX);
  if (number >= session.repeatsBelow) return undefined;
  const { client, user } = session;
  const isThere = (partition: Partition) =>
    groupOf(shard, topic, partition).hasSeen({ client, user, request: number });
  return topic.partitions.find(isThere);
}
