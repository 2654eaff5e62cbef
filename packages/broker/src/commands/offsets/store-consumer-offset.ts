import { CodedError, ErrorCode } from "@millrace/errors";
import { decodeBody, decodeStoreConsumerOffset, RESULT_SUCCESS } from "@millrace/protocol";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refusingErrors } from "../handler.ts";
import { checkOwner, findWritableConsumer } from "./consumer-target.ts";
import { checkNoPurge, checkOffsetRoom, submitStoreOffset } from "./store-offset-op.ts";

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
      checkOwner(shard, session, found);
      if (partition.offsetsFault !== undefined) throw partition.offsetsFault;
      if (asked.offset >= BigInt(partition.committedNextOffset)) {
        throw new CodedError(ErrorCode.InvalidOffset, "The offset lies beyond the last message.");
      }
      checkOffsetRoom(shard, partition, consumer);
      checkNoPurge(group);
      const store = { shard, request, session, group, partition, consumer };
      submitStoreOffset(store, Number(asked.offset), {
        committed: ({ op, timestamp }) =>
          request.answer([RESULT_SUCCESS], { bodyLength: 0, op, commit: op, view: group.view, timestamp }),
        failed: (code) => request.refuse(code, directFields(shard, request.connection)),
      });
    }),
  );
};
