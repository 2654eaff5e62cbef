import type { Clock } from "@millrace/platform";
import {
  decodeBody,
  decodeSendMessagesReply,
  encodePollMessages,
  type PollingStrategy,
  type SendConfirmation,
} from "@millrace/protocol";
import type { Fields } from "../../json/fields.ts";
import { pollText, readSend } from "../../objects/message-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import { RawAnswer, type Route, type RouteCall } from "./route.ts";
import { SendMetadataMemo } from "./send-metadata-memo.ts";
import { consumerOf, topicOf } from "./targets.ts";

const tag = "messages";
const url = "/streams/:stream_id/topics/:topic_id/messages";
const JSON_TYPE = "application/json; charset=utf-8";
const DURABILITY_HEADER = "iggy-durability";
const COUNT_DEFAULT = 10;

const STRATEGIES: Readonly<Record<string, (value: bigint) => PollingStrategy>> = {
  offset: (offset) => ({ kind: "offset", offset }),
  timestamp: (micros) => ({ kind: "timestamp", micros }),
  first: () => ({ kind: "first" }),
  last: () => ({ kind: "last" }),
  next: () => ({ kind: "next" }),
};
/** Words of the query `ack`, and whether the answer waits for the commit. */
const ACKS = { none: false, replicated: true } as const;

/** What the routes of messages need beside a session. */
export interface MessageRouteParts {
  readonly clock: Clock;
  /** Word for the header that says how durable a confirmed batch is. */
  readonly durabilityOf: (confirmation: SendConfirmation) => string;
}

/** Produce and poll. */
export function messageRoutes(parts: MessageRouteParts): readonly Route[] {
  const memo = new SendMetadataMemo();
  return [
    {
      method: "POST",
      url,
      tag,
      summary: "Sends messages; the answer comes once they are committed",
      status: 201,
      query: { ack: { type: "string", enum: Object.keys(ACKS) } },
      body: schema.sendMessages,
      otherAnswers: { 202: "With ack=none: handed over, and nobody says what becomes of it" },
      answer: schema.confirmations,
      handle: (call) => send(parts, memo, call),
    },
    {
      method: "GET",
      url,
      tag,
      summary: "Messages of one partition for a plain consumer",
      status: 200,
      query: {
        consumer_id: schema.text,
        partition_id: schema.u32,
        kind: { type: "string", enum: Object.keys(STRATEGIES) },
        value: schema.u64,
        count: schema.u32,
        auto_commit: schema.flag,
      },
      answer: schema.polledMessages,
      async handle(call) {
        const { query } = call;
        const stores = query.flag("auto_commit", false);
        const request = encodePollMessages({
          ...topicOf(call),
          consumer: consumerOf(query, false),
          partitionId: query.u32("partition_id", 0),
          strategy: strategyOf(query),
          count: query.u32("count", COUNT_DEFAULT),
          autoCommit: stores,
        });
        const text = await call.session.poll(request, { stores, make: pollText });
        return new RawAnswer(JSON_TYPE, text);
      },
    },
  ];
}

async function send({ clock, durabilityOf }: MessageRouteParts, memo: SendMetadataMemo, call: RouteCall) {
  const { partitioning, messages } = readSend(call.body);
  const isAwaited = call.query.choice("ack", ACKS, true);
  const metadata = memo.metadataOf(call, partitioning, messages.length);
  const batch = { metadata, messages, originTimestamp: clock.wallMicros() };
  if (!isAwaited) {
    call.session.dispatch(batch);
    call.header(DURABILITY_HEADER, "none");
    call.status(202);
    return undefined;
  }
  const confirmations = decodeBody(decodeSendMessagesReply, await call.session.send(batch));
  const [first] = confirmations;
  if (first !== undefined) call.header(DURABILITY_HEADER, durabilityOf(first));
  return new RawAnswer(JSON_TYPE, `{"confirmations":[${confirmations.map(confirmationText).join()}]}`);
}

/** All of its numbers are exact: none is beyond 2^53. */
function confirmationText({ streamId, topicId, partitionId, baseOffset }: SendConfirmation): string {
  const topic = `"stream_id":${streamId},"topic_id":${topicId}`;
  return `{${topic},"partition_id":${partitionId},"base_offset":${baseOffset}}`;
}

function strategyOf(query: Fields): PollingStrategy {
  const make = query.choice("kind", STRATEGIES, (offset) => ({ kind: "offset", offset }));
  return make(query.u64("value", 0n));
}
