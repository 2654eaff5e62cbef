import {
  CLUSTER_GROUPS_MAX,
  type ClusterGroups,
  decodeBody,
  decodeGetClusterGroups,
  encodeGetClusterGroupsReply,
  type GetClusterGroups,
} from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findStream, findTopic } from "../../admission/find-target.ts";
import { loneStandings } from "../../cluster/group-standings.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { answerBody, type Handler, refusingErrors } from "../handler.ts";

/**
 * Where each node of the cluster stands in the metadata group and in a page of the partitions' groups. Other
 * nodes are asked; one that does not answer within a second is told of as such. A server that stands alone
 * has no numbers of partitions of its other shards.
 *
 * Codes: 41, 1009, 2010.
 */
export const getClusterGroups: Handler = (shard, request, session) =>
  tellClusterGroups(shard, request, { body: request.body, session });

/** Answers a read whose body may have come inside another one. */
export type AnswerRead = (
  shard: Shard,
  request: ClientRequest,
  asked: { readonly body: Uint8Array; readonly session: Session },
) => void;

/** See `getClusterGroups`. */
export const tellClusterGroups: AnswerRead = (shard, request, { body, session }) => {
  const asked = decodeBody(decodeGetClusterGroups, body);
  checkPermission(shard, session, "read-server");
  const answer = (groups: ClusterGroups) =>
    refusingErrors(shard, request, () => answerBody(shard, request, encodeGetClusterGroupsReply(groups)));
  const countMax = Math.min(asked.countMax, CLUSTER_GROUPS_MAX);
  const page = { after: asked.after, countMax, ...targetOf(shard, asked) };
  if (shard.standings === undefined) answer(loneStandings(shard, page));
  else shard.standings.collect(page, answer);
};

function targetOf(shard: Shard, { stream, topic }: GetClusterGroups) {
  if (stream === undefined) return { streamId: undefined, topicId: undefined };
  if (topic === undefined) return { streamId: findStream(shard, stream).id, topicId: undefined };
  const found = findTopic(shard, { stream, topic });
  return { streamId: found.stream.id, topicId: found.topic.id };
}
