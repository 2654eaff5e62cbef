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
import { standingOf } from "../../cluster/group-standings.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Session } from "../../sessions/session.ts";
import type { Shard } from "../../shard.ts";
import { answerBody, type Handler, refusingErrors } from "../handler.ts";

/**
 * Where each node of the cluster stands in the metadata group and in a page of the partitions' groups. Other
 * nodes are asked; one that does not answer within a second is told of as such. A server that stands alone
 * tells of its metadata only.
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
  const { standings, metadata } = shard;
  const target = targetOf(shard, asked);
  if (standings === undefined) {
    const nodes = [{ replica: 0, metadata: standingOf(metadata.replica) }];
    answer({ nodes, partitions: [], next: undefined });
    return;
  }
  const countMax = Math.min(asked.countMax, CLUSTER_GROUPS_MAX);
  standings.collect({ after: asked.after, countMax, ...target }, answer);
};

function targetOf(shard: Shard, { stream, topic }: GetClusterGroups) {
  if (stream === undefined) return { streamId: undefined, topicId: undefined };
  if (topic === undefined) return { streamId: findStream(shard, stream).id, topicId: undefined };
  const found = findTopic(shard, { stream, topic });
  return { streamId: found.stream.id, topicId: found.topic.id };
}
