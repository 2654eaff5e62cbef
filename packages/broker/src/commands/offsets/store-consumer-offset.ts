import { decodeBody, decodeStoreConsumerOffset, RESULT_SUCCESS } from "@millrace/protocol";
import { type Handler, refuseWithCode } from "../handler.ts";
import { checkOwner, findWritableConsumer, refusalOf, settledAfter } from "./consumer-target.ts";

/**
 * Stores the offset a consumer, or the member of a group that owns the partition, has finished with; it may
 * move backwards.
 *
 * Answered once committed, whatever acknowledgement was asked: on one node both mean the same.
 * Codes: 20 unknown target or no owner, 41, 4100 beyond the readable end, 3024 too many consumers, 5000
 * unknown group, 58 while the partition is being purged.
 * @see server-semantics section 9
 */
export const storeConsumerOffset: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeStoreConsumerOffset, request.body);
  const found = findWritableConsumer(shard, session, asked, checkOwner);
  const { handle, consumer: key } = found;
  handle.afterOpen(() => {
    const outcome = settledAfter(shard, found, {
      committed: ({ op, view, timestamp }) =>
        request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view, timestamp }),
      failed: (code) => refuseWithCode(shard, request, code),
    });
    const { client, user, countsRequests: isNumbered } = session;
    const refusal = refusalOf(checkOwner, shard, session, found);
    const { offset } = asked;
    handle.storeOffset({
      client,
      request: request.number,
      user,
      isNumbered,
      key,
      offset,
      refusal,
      ...outcome,
    });
  });
};
