import { Operation } from "@millrace/protocol";
import { checkSend } from "../../admission/check-send.ts";
import type { Shard } from "../../shard.ts";
import { type Handler, refuseWithCode } from "../handler.ts";

/**
 * Appends a batch to a partition and confirms where it begins.
 *
 * The reply leaves once the batch is written as durably as the topic asks. Requests of one connection overlap
 * here; their order is that of their partition's group. A send that comes again is confirmed as before.
 * @see wire-protocol sections 7.5, 8.9, 9
 */
export const sendMessages: Handler = (shard, request, session) =>
  checkSend(shard, request, session, ({ handle, batchLease, messagesCount }) => {
    const { streamId, topicId, partitionId } = handle.identity;
    const { length } = batchLease;
    handle.append({
      operation: Operation.SendMessages,
      client: session.client,
      request: request.number,
      user: session.user,
      batchLease,
      isNumbered: session.countsRequests,
      holder: request.connection,
      committed({ op, view, baseOffset, timestamp, isRepeated }) {
        if (isRepeated) shard.metrics.repetitions.add(1);
        else countBatch(shard, { messagesCount, length });
        const fields = { bodyLength: 0, op, commit: op, view, timestamp };
        request.confirm({ streamId, topicId, partitionId, baseOffset }, fields);
      },
      failed: (code) => refuseWithCode(shard, request, code),
    });
  });

function countBatch(
  { metrics }: Shard,
  batch: { readonly messagesCount: number; readonly length: number },
): void {
  metrics.messagesReceived.add(batch.messagesCount);
  metrics.bytesReceived.add(batch.length);
  metrics.totals.writtenBytes += batch.length;
}
