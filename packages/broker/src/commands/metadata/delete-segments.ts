import { admitRequest } from "@millrace/metadata";
import { type DeleteSegments, decodeBody, decodeDeleteSegments } from "@millrace/protocol";
import { findGroup, findTopic } from "../../admission/find-target.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type RetentionFacts, releasedSegments } from "../../retention/retention-plan.ts";
import { tellRemoved } from "../../retention/tell-removed.ts";
import { retentionFacts, truncatePartition } from "../../retention/truncate-partition.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refusingErrors } from "../handler.ts";
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
  const group = findGroup(shard, findTopic(shard, asked).topic, asked.partitionId);
  const want = ({ sealed }: RetentionFacts) => Math.min(asked.segmentsCount, sealed.length);
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const facts = retentionFacts(group.openPartition);
      if (Math.min(want(facts), releasedSegments(facts)) === 0) return done();
      truncatePartition(group, want, {
        removed(removed) {
          const to = { log: shard.platform.log, metrics: shard.metrics.retention };
          tellRemoved(to, group.identity, removed, "request");
          done();
        },
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      });
    }),
  );
}
