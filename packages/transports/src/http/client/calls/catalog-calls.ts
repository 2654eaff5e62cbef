import {
  type CommandName,
  decodeCreateConsumerGroup,
  decodeCreatePartitions,
  decodeCreateStream,
  decodeDeleteConsumerGroup,
  decodeDeletePartitions,
  decodeDeleteSegments,
  decodeDeleteStream,
  decodeGetConsumerGroup,
  decodeGetConsumerGroups,
  decodeGetStream,
  decodePurgeStream,
  decodeUpdateStream,
  encodeCreateConsumerGroupReply,
  encodeCreateStreamReply,
  encodeGetConsumerGroupReply,
  encodeGetConsumerGroupsReply,
  encodeGetStreamReply,
  encodeGetStreamsReply,
} from "@millrace/protocol";
import { readGroupDetailsJson, readGroupJson } from "../../objects/group-json.ts";
import { optionTextsJson } from "../../objects/option-json.ts";
import { readStreamDetailsJson, readStreamJson } from "../../objects/stream-json.ts";
import {
  findOne,
  getList,
  type MakeCall,
  postOne,
  segment,
  send,
  streamPath,
  topicPath,
  withQuery,
} from "./api-call.ts";

/** Streams, partitions, segments and consumer groups; what a member of a group does has no route. */
export const CATALOG_CALLS: Readonly<Partial<Record<CommandName, MakeCall>>> = {
  GetStreams: () => getList("/streams", readStreamJson, encodeGetStreamsReply),
  GetStream: (body) =>
    findOne(streamPath(decodeGetStream(body)), readStreamDetailsJson, encodeGetStreamReply),
  CreateStream: (body) => {
    const { name, options } = decodeCreateStream(body);
    const request = { name, options: optionTextsJson(options) };
    return postOne("/streams", request, readStreamDetailsJson, encodeCreateStreamReply);
  },
  UpdateStream: (body) => {
    const { name, options, ...target } = decodeUpdateStream(body);
    return send("PUT", streamPath(target), { name, options: optionTextsJson(options) });
  },
  DeleteStream: (body) => send("DELETE", streamPath(decodeDeleteStream(body))),
  PurgeStream: (body) => send("DELETE", `${streamPath(decodePurgeStream(body))}/purge`),

  CreatePartitions: (body) => {
    const { partitionsCount, ...target } = decodeCreatePartitions(body);
    return send("POST", `${topicPath(target)}/partitions`, { partitions_count: partitionsCount });
  },
  DeletePartitions: (body) => {
    const { partitionsCount, ...target } = decodeDeletePartitions(body);
    const query = { partitions_count: partitionsCount };
    return send("DELETE", withQuery(`${topicPath(target)}/partitions`, query));
  },
  DeleteSegments: (body) => {
    const { partitionId, segmentsCount, ...target } = decodeDeleteSegments(body);
    const query = { segments_count: segmentsCount };
    return send("DELETE", withQuery(`${topicPath(target)}/partitions/${partitionId}`, query));
  },

  GetConsumerGroups: (body) => {
    const path = `${topicPath(decodeGetConsumerGroups(body))}/consumer-groups`;
    return getList(path, readGroupJson, encodeGetConsumerGroupsReply);
  },
  GetConsumerGroup: (body) =>
    findOne(groupPath(decodeGetConsumerGroup(body)), readGroupDetailsJson, encodeGetConsumerGroupReply),
  CreateConsumerGroup: (body) => {
    const { name, ...target } = decodeCreateConsumerGroup(body);
    const path = `${topicPath(target)}/consumer-groups`;
    return postOne(path, { name }, readGroupDetailsJson, encodeCreateConsumerGroupReply);
  },
  DeleteConsumerGroup: (body) => send("DELETE", groupPath(decodeDeleteConsumerGroup(body))),
};

function groupPath(target: ReturnType<typeof decodeGetConsumerGroup>): string {
  return `${topicPath(target)}/consumer-groups/${segment(target.group)}`;
}
