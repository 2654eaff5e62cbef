import { decodeBody, decodeVerifyPartition, encodeVerifyPartitionReply } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { findHandle, findTopic } from "../../admission/find-target.ts";
import { directFields } from "../../replies/direct-fields.ts";
import { type Handler, refuseWith } from "../handler.ts";

/** Bytes of a step when the client leaves it to us: some milliseconds of checksums and one of reading. */
const LENGTH_DEFAULT = 4_194_304;
/** No step is longer, so that whoever asks for more does not keep others of this partition waiting. */
const LENGTH_MAX = 16_777_216;

/**
 * Checks the next stretch of a partition's files and tells what is damaged, by file and position. One step at
 * a time per partition, with a read between two stretches of checksums: others are served meanwhile.
 *
 * Codes: 1009, 2010, 3007, 41, 13000 and what else the disk answers.
 */
export const verifyPartition: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeVerifyPartition, request.body);
  const { stream, topic } = findTopic(shard, asked);
  const handle = findHandle(shard, topic, asked.partitionId);
  checkPermission(shard, session, "manage-topic", { stream: stream.id, topic: topic.id });
  const lengthMax = asked.lengthMax === 0 ? LENGTH_DEFAULT : Math.min(asked.lengthMax, LENGTH_MAX);
  const answer = async () => {
    const reply = await handle.verify({ from: asked.from, lengthMax });
    request.answer([encodeVerifyPartitionReply(reply)], directFields(shard, request.connection));
  };
  handle.afterOpen(() => answer().catch((error: unknown) => refuseWith(shard, request, error)));
};
