import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteWriter } from "@millrace/framing";
import { decodeBody, decodeDeleteConsumerOffset, Operation, RESULT_SUCCESS } from "@millrace/protocol";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { CONSUMER_KIND, findConsumer, targetAsResource } from "./consumer-target.ts";

/**
 * Forgets the stored offset of an individual consumer.
 *
 * Codes: 20 unknown target, 41, 3021 nothing stored, 5000 group, 20002 damage hides what is stored.
 * @see server-semantics section 9
 */
export const deleteConsumerOffset: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeDeleteConsumerOffset, request.body);
  const { group, consumerId } = targetAsResource(() => findConsumer(shard, session, asked));
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      if (group.openPartition.consumerOffset(CONSUMER_KIND, consumerId) === undefined) {
        throw new CodedError(ErrorCode.ConsumerOffsetNotFound, "No offset is stored for the consumer.");
      }
      group.submit({
        operation: Operation.DeleteConsumerOffset,
        client: session.client,
        request: request.number,
        user: session.user,
        body: new ByteWriter().u8(CONSUMER_KIND).u32(consumerId).finish(),
        committed: ({ op, timestamp }) =>
          request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view: group.view, timestamp }),
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      });
    }),
  );
};
