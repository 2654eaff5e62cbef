import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeBody, decodeStoreConsumerOffset, RESULT_SUCCESS } from "@millrace/protocol";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { type ConsumerPlace, checkOwner, findWritableConsumer } from "./consumer-target.ts";
import { checkNoPurge, checkOffsetRoom, type OffsetStore, storeOffsetOp } from "./store-offset-op.ts";

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
  const { group, consumer } = found;
  group.afterOpen(() =>
    refusingErrors(shard, request, () => {
      const partition = group.openPartition;
      const store = { shard, request, session, group, partition, consumer };
      const storing = storeOffsetOp(store, asked.offset, {
        isNumbered: session.countsRequests,
        committed: ({ op, timestamp }) =>
          request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view: group.view, timestamp }),
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      });
      // What was stored already may no longer be allowed; it is confirmed, not done again.
      if (!group.isRepetition(storing)) checkStore(store, found, asked.offset);
      group.submit(storing);
    }),
  );
};

function checkStore({ shard, session, partition }: OffsetStore, found: ConsumerPlace, offset: bigint): void {
  checkOwner(shard, session, found);
  if (partition.offsetsFault !== undefined) throw partition.offsetsFault;
  if (offset >= BigInt(partition.committedNextOffset)) {
    throw new CodedError(ErrorCode.InvalidOffset, "The offset lies beyond the last message.");
  }
  checkOffsetRoom(shard, partition, found.consumer);
  checkNoPurge(found.group);
}
