import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteWriter } from "@millrace/framing";
import { decodeBody, decodeDeleteConsumerOffset, Operation, RESULT_SUCCESS } from "@millrace/protocol";
import type { PartitionOp } from "../../partition-plane/partition-op.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { checkOwnerOrAbandoned, findWritableConsumer } from "./consumer-target.ts";

/**
 * Forgets the stored offset of a consumer, or of a group: for the member that owns the partition, or for
 * anybody who may poll while no member does.
 *
 * Codes: 20 unknown target or another owns it, 41, 3021 nothing stored, 5000 unknown group, 20002 damage
 * hides what is stored.
 * @see server-semantics section 9
 */
export const deleteConsumerOffset: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeDeleteConsumerOffset, request.body);
  const found = findWritableConsumer(shard, session, asked, checkOwnerOrAbandoned);
  const { group } = found;
  const { kind, id } = found.consumer;
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const deleting: PartitionOp = {
        operation: Operation.DeleteConsumerOffset,
        client: session.client,
        request: request.number,
        user: session.user,
        isNumbered: session.countsRequests,
        body: new ByteWriter().u8(kind).u32(id).finish(),
        committed: ({ op, timestamp }) =>
          request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view: group.view, timestamp }),
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      };
      checkOwnerOrAbandoned(shard, session, found);
      const isStored = group.openPartition.consumerOffset(kind, id) !== undefined;
      if (!isStored && !group.isRepetition(deleting)) {
        throw new CodedError(ErrorCode.ConsumerOffsetNotFound, "No offset is stored for the consumer.");
      }
      group.submit(deleting);
    }),
  );
};
