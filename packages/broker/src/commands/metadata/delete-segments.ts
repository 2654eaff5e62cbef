import { ByteWriter } from "@millrace/framing";
import { admitRequest } from "@millrace/metadata";
import {
  type DeleteSegments,
  decodeBody,
  decodeDeleteSegments,
  decodeResultSection,
} from "@millrace/protocol";
import { type Partition, StorageOperation } from "@millrace/storage";
import { SERVER_CLIENT } from "@millrace/vsr";
import { findGroup, findTopic } from "../../admission/find-target.ts";
import type { MetadataAnswer } from "../../metadata-plane/metadata-request.ts";
import { directFields } from "../../replies/direct-fields.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { answerMetadata, metadataRequest } from "./commit-metadata.ts";

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

function isNewSuccess(answer: MetadataAnswer): boolean {
  return answer.kind === "reply" && !answer.isRepeated && decodeResultSection(answer.body).code === 0;
}

function truncate(shard: Shard, request: ClientRequest, asked: DeleteSegments, done: () => void): void {
  const group = findGroup(shard, findTopic(shard, asked).topic, asked.partitionId);
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const upToOffset = truncationOffset(group.openPartition, asked.segmentsCount);
      // A purge under way takes these segments too, and behind it the offset would stand for new messages.
      if (upToOffset === undefined || group.isPurging) {
        done();
        return;
      }
      group.submit({
        operation: StorageOperation.truncate,
        client: SERVER_CLIENT,
        request: 0n,
        user: 0,
        body: new ByteWriter(8).u64(upToOffset).finish(),
        committed: done,
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      });
    }),
  );
}

/**
 * First offset that stays when `count` sealed segments go, as far as stored offsets let them; nothing when
 * none goes.
 */
export function truncationOffset(partition: Partition, count: number): number | undefined {
  const barrier = partition.lowestConsumerOffset() ?? Number.POSITIVE_INFINITY;
  let upToOffset: number | undefined;
  for (const { lastOffset } of partition.sealedSegments().slice(0, count)) {
    if (lastOffset > barrier) break;
    upToOffset = lastOffset + 1;
  }
  return upToOffset;
}
