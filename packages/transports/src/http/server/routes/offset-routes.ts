import {
  decodeBody,
  decodeGetConsumerOffsetReply,
  encodeDeleteConsumerOffset,
  encodeGetConsumerOffset,
  encodeStoreConsumerOffset,
} from "@millrace/protocol";
import { notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { offsetJson } from "../../objects/offset-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import type { Route } from "./route.ts";
import { consumerOf, identifierOf, topicOf } from "./targets.ts";

const tag = "consumer offsets";
const url = "/streams/:stream_id/topics/:topic_id/consumer-offsets";

/** Stored offsets of plain consumers. */
export const offsetRoutes: readonly Route[] = [
  {
    method: "GET",
    url,
    tag,
    summary: "The stored offset of a consumer",
    status: 200,
    query: { consumer_id: schema.text, partition_id: schema.u32 },
    answer: schema.consumerOffset,
    async handle(call) {
      const partitionId = call.query.u32("partition_id", 0);
      const target = { ...topicOf(call), consumer: consumerOf(call.query, false), partitionId };
      const reply = await call.session.ask("GetConsumerOffset", encodeGetConsumerOffset(target));
      const offset = decodeBody(decodeGetConsumerOffsetReply, reply);
      if (offset === undefined) throw notFound();
      return offsetJson(offset);
    },
  },
  {
    method: "PUT",
    url,
    tag,
    summary: "Stores the offset a consumer has finished with",
    status: 204,
    body: schema.object({ consumer_id: schema.numberOrText, partition_id: schema.u32, offset: schema.u64 }, [
      "consumer_id",
      "offset",
    ]),
    async handle(call) {
      const fields = Fields.ofBody(call.body);
      const consumer = consumerOf(fields, true);
      const partitionId = fields.u32("partition_id", 0);
      const offset = fields.u64("offset");
      const request = { ...topicOf(call), consumer, partitionId, offset, ack: "quorum" } as const;
      await call.session.ask("StoreConsumerOffset", encodeStoreConsumerOffset(request));
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: `${url}/:consumer_id`,
    tag,
    summary: "Forgets the stored offset of a consumer",
    status: 204,
    query: { partition_id: schema.u32 },
    async handle(call) {
      const id = identifierOf(call.path["consumer_id"] ?? "", "consumer_id");
      const partitionId = call.query.u32("partition_id", 0);
      const consumer = { kind: "consumer", id } as const;
      const request = { ...topicOf(call), consumer, partitionId, ack: "quorum" } as const;
      await call.session.ask("DeleteConsumerOffset", encodeDeleteConsumerOffset(request));
      return undefined;
    },
  },
];
