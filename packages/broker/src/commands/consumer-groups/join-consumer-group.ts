import { encodeJoinGroupOp, MetadataOperation } from "@millrace/metadata";
import { decodeBody, decodeJoinConsumerGroup, type GroupTarget } from "@millrace/protocol";
import { findConsumerGroup, placeOf } from "../../consumer-groups/membership.ts";
import type { Shard } from "../../shard.ts";
import type { Handler } from "../handler.ts";
import { answerMetadata, metadataRequest } from "../metadata/commit-metadata.ts";

/**
 * Makes the session a member of a group. The op says which partitions are in flight; polls of the group wait
 * until it is executed, so that this stays true.
 *
 * Codes: 1009, 2010, 5000, 41.
 * @see server-semantics section 10
 */
export const joinConsumerGroup: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeJoinConsumerGroup, request.body);
  const { inFlight, letGo } = holdPolls(shard, asked);
  const operation = MetadataOperation.joinConsumerGroup;
  shard.metadata.submit({
    ...metadataRequest(request, session),
    operation,
    body: encodeJoinGroupOp({ ...asked, inFlight }),
    answered(answer) {
      letGo();
      answerMetadata(shard, request, answer, operation);
    },
  });
};

function holdPolls(shard: Shard, asked: GroupTarget): { inFlight: readonly number[]; letGo: () => void } {
  const stream = shard.catalog.findStream(asked.stream);
  const topic = stream && shard.catalog.findTopic(stream, asked.topic);
  const group = topic && findConsumerGroup(shard, topic, asked.group);
  if (topic === undefined || group === undefined)
    return { inFlight: shard.groups.inFlight(undefined), letGo: () => {} };
  const place = placeOf(topic, group);
  const letGo = shard.groups.gates.hold(place);
  return { inFlight: shard.groups.inFlight(place), letGo };
}
