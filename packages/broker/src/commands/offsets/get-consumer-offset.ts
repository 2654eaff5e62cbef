import { decodeBody, decodeGetConsumerOffset, encodeGetConsumerOffsetReply } from "@millrace/protocol";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { findConsumer } from "./consumer-target.ts";

/**
 * Answers the stored offset of a consumer or a group and the readable end; empty when nothing is stored.
 *
 * Codes: 1009, 2010, 3007, 41, 5000 unknown group, 20002 damage hides what is stored.
 */
export const getConsumerOffset: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeGetConsumerOffset, request.body);
  const { group, consumer } = findConsumer(shard, session, asked);
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const partition = group.openPartition;
      const storedOffset = partition.consumerOffset(consumer.kind, consumer.id);
      const { partitionId } = group.identity;
      const currentOffset = Math.max(0, partition.committedNextOffset - 1);
      const offset = storedOffset === undefined ? undefined : { partitionId, currentOffset, storedOffset };
      request.answer([encodeGetConsumerOffsetReply(offset)], directFields(shard, request.connection));
    }),
  );
};
