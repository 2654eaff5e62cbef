import { admitRequest } from "@millrace/metadata";
import {
  type DeleteSegments,
  decodeBody,
  decodeDeleteSegments,
  decodeResultSection,
} from "@millrace/protocol";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import type { MetadataAnswer } from "../../metadata-plane/metadata-request.ts";
import { tellRemoved } from "../../retention/tell-removed.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refuseWithCode, refusingErrors } from "../handler.ts";
import { answerMetadata, metadataRequest } from "./commit-metadata.ts";

/** What the metadata group has decided, now or when the request came before. */
type Decision = Extract<MetadataAnswer, { kind: "reply" }>;

/**
 * Deletes the oldest sealed segments of a partition.
 *
 * The metadata group decides whether it may be; then the partition's group, which another node may lead, is
 * told up to which offset to cut. The reply leaves once that is committed. A repeated request asks the
 * partition's group again, which knows by the decision whether it was done: the first try may have ended
 * before. A segment that somebody's stored offset has not passed is kept.
 * @see server-semantics section 6, docs/adr/0062
 */
export const deleteSegments: Handler = (shard, request, session) => {
  const { operation, body } = admitRequest(request.operation, request.body);
  const asked = decodeBody(decodeDeleteSegments, body);
  shard.metadata.submit({
    ...metadataRequest(request, session),
    operation,
    body: body.slice(),
    answered(answer) {
      const reply = () => answerMetadata(shard, request, answer, operation);
      if (!isToBeDone(shard, answer)) reply();
      else refusingErrors(shard, request, () => truncate(shard, request, { asked, answer }, reply));
    },
  });
};

/** Where partitions remember no requests a repeated one cannot be told from a new one: it is done once. */
function isToBeDone({ config }: Shard, answer: MetadataAnswer): answer is Decision {
  if (answer.kind !== "reply" || decodeResultSection(answer.body).code !== 0) return false;
  return !answer.isRepeated || config.requestClientsMax > 0;
}

function truncate(
  shard: Shard,
  request: ClientRequest,
  { asked, answer }: { readonly asked: DeleteSegments; readonly answer: Decision },
  done: () => void,
): void {
  const { segmentsCount } = asked;
  const handle = findHandle(shard, findTopic(shard, asked).topic, asked.partitionId);
  // One that was made later has the place of the one that is meant: with that all its segments are gone.
  if (handle.identity.revision > answer.op) {
    done();
    return;
  }
  handle.afterOpen(() =>
    handle.truncate(
      { kind: "count", segmentsCount, decidedAt: answer.op },
      {
        removed(removed) {
          const to = { log: shard.platform.log, metrics: shard.metrics.retention };
          tellRemoved(to, handle.identity, removed, "request");
          done();
        },
        failed: (code) => refuseWithCode(shard, request, code),
      },
    ),
  );
}
