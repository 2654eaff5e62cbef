import { admitRequest } from "@millrace/metadata";
import { type DeleteSegments, decodeBody, decodeDeleteSegments } from "@millrace/protocol";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { tellRemoved } from "../../retention/tell-removed.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refuseWithCode, refusingErrors } from "../handler.ts";
import { answerMetadata, isNewSuccess, metadataRequest } from "./commit-metadata.ts";

/**
 * Deletes the oldest sealed segments of a partition.
 *
 * The metadata group decides whether it may be, so that a repeated request is recognised; then the
 * partition's group is told up to which offset to cut. A segment that somebody's stored offset has not passed
 * is kept.
 * @see server-semantics section 6
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
      if (isNewSuccess(answer)) refusingErrors(shard, request, () => truncate(shard, request, asked, reply));
      else reply();
    },
  });
};

function truncate(shard: Shard, request: ClientRequest, asked: DeleteSegments, done: () => void): void {
  const handle = findHandle(shard, findTopic(shard, asked).topic, asked.partitionId);
  const order = { kind: "count", segmentsCount: asked.segmentsCount } as const;
  handle.afterOpen(() =>
    handle.truncate(order, {
      removed(removed) {
        const to = { log: shard.platform.log, metrics: shard.metrics.retention };
        tellRemoved(to, handle.identity, removed, "request");
        done();
      },
      failed: (code) => refuseWithCode(shard, request, code),
    }),
  );
}
