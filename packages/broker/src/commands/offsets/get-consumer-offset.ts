import { decodeBody, decodeGetConsumerOffset, encodeGetConsumerOffsetReply } from "@millrace/protocol";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refuseWith } from "../handler.ts";
import { findConsumer } from "./consumer-target.ts";

/**
 * Answers the stored offset of a consumer or a group and the readable end; empty when nothing is stored.
 *
 * Codes: 1009, 2010, 3007, 41, 5000 unknown group, 20002 damage hides what is stored.
 */
export const getConsumerOffset: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeGetConsumerOffset, request.body);
  const { handle, consumer } = findConsumer(shard, session, asked);
  const { partitionId } = handle.identity;
  handle.afterOpen(() =>
    handle.readOffset(consumer, (error, found) => {
      if (error !== undefined) {
        refuseWith(shard, request, error);
        return;
      }
      const { stored: storedOffset, currentOffset = 0 } = found ?? {};
      const offset = storedOffset === undefined ? undefined : { partitionId, currentOffset, storedOffset };
      request.answer([encodeGetConsumerOffsetReply(offset)], directFields(shard, request.connection));
    }),
  );
};
