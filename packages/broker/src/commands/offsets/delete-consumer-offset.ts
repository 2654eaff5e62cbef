import { decodeBody, decodeDeleteConsumerOffset, RESULT_SUCCESS } from "@millrace/protocol";
import { type Handler, refuseWithCode } from "../handler.ts";
import { checkOwnerOrAbandoned, findWritableConsumer, refusalOf } from "./consumer-target.ts";

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
  const { handle, consumer } = found;
  handle.afterOpen(() =>
    handle.deleteOffset({
      client: session.client,
      request: request.number,
      user: session.user,
      isNumbered: session.countsRequests,
      key: consumer,
      refusal: refusalOf(checkOwnerOrAbandoned, shard, session, found),
      committed: ({ op, view, timestamp }) =>
        request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view, timestamp }),
      failed: (code) => refuseWithCode(shard, request, code),
    }),
  );
};
