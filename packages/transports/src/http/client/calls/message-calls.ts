import {
  type CommandName,
  decodeDeleteConsumerOffset,
  decodeGetConsumerOffset,
  decodePollMessages,
  decodeSendMetadata,
  decodeStoreConsumerOffset,
  encodeGetConsumerOffsetReply,
  encodeSendMessagesReply,
  type PollingStrategy,
} from "@millrace/protocol";
import { readConfirmation, readPoll, sendText } from "../../objects/message-json.ts";
import { readOffsetJson } from "../../objects/offset-json.ts";
import { consumerOf, findOne, type MakeCall, send, topicPath, withQuery } from "./api-call.ts";

/** Messages and the offsets of plain consumers. */
export const MESSAGE_CALLS: Readonly<Partial<Record<CommandName, MakeCall>>> = {
  SendMessages: (body) => {
    const { partitioning, batchPosition, ...target } = decodeSendMetadata(body);
    return {
      method: "POST",
      path: `${topicPath(target)}/messages`,
      body: sendText(partitioning, body.subarray(batchPosition)),
      payloadOf: (answer) =>
        encodeSendMessagesReply(answer.fields().objects("confirmations").map(readConfirmation)),
    };
  },
  PollMessages: (body) => {
    const poll = decodePollMessages(body);
    const { kind, value } = strategyOf(poll.strategy);
    const query = { ...consumerOf(poll), kind, value, count: poll.count, auto_commit: `${poll.autoCommit}` };
    const path = withQuery(`${topicPath(poll)}/messages`, query);
    return { method: "GET", path, payloadOf: (answer) => readPoll(answer.fields()) };
  },
  GetConsumerOffset: (body) => {
    const target = decodeGetConsumerOffset(body);
    const path = withQuery(`${topicPath(target)}/consumer-offsets`, consumerOf(target));
    return findOne(path, readOffsetJson, encodeGetConsumerOffsetReply);
  },
  StoreConsumerOffset: (body) => {
    const { offset, ...target } = decodeStoreConsumerOffset(body);
    return send("PUT", `${topicPath(target)}/consumer-offsets`, { ...consumerOf(target), offset });
  },
  DeleteConsumerOffset: (body) => {
    const target = decodeDeleteConsumerOffset(body);
    const { consumer_id, partition_id } = consumerOf(target);
    return send(
      "DELETE",
      withQuery(`${topicPath(target)}/consumer-offsets/${consumer_id}`, { partition_id }),
    );
  },
};

function strategyOf(strategy: PollingStrategy): { readonly kind: string; readonly value: bigint } {
  if (strategy.kind === "offset") return { kind: "offset", value: strategy.offset };
  if (strategy.kind === "timestamp") return { kind: "timestamp", value: strategy.micros };
  return { kind: strategy.kind, value: 0n };
}
