import { encodeCreatePartitions, encodeDeletePartitions, encodeDeleteSegments } from "@millrace/protocol";
import { Fields } from "../../json/fields.ts";
import { schema } from "../openapi/schemas.table.ts";
import type { Route } from "./route.ts";
import { numberOf, topicOf } from "./targets.ts";

const tag = "partitions";

/** Partitions and their segments. */
export const partitionRoutes: readonly Route[] = [
  {
    method: "POST",
    url: "/streams/:stream_id/topics/:topic_id/partitions",
    tag,
    summary: "Adds partitions to a topic",
    status: 200,
    body: schema.object({ partitions_count: schema.u32 }, ["partitions_count"]),
    async handle(call) {
      const partitionsCount = Fields.ofBody(call.body).u32("partitions_count");
      await call.session.ask(
        "CreatePartitions",
        encodeCreatePartitions({ ...topicOf(call), partitionsCount }),
      );
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id/topics/:topic_id/partitions",
    tag,
    summary: "Deletes the partitions with the highest ids",
    status: 204,
    query: { partitions_count: schema.u32 },
    async handle(call) {
      const partitionsCount = call.query.u32("partitions_count");
      await call.session.ask(
        "DeletePartitions",
        encodeDeletePartitions({ ...topicOf(call), partitionsCount }),
      );
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id/topics/:topic_id/partitions/:partition_id",
    tag,
    summary: "Deletes the oldest sealed segments of a partition, not the partition",
    status: 204,
    query: { segments_count: schema.u32 },
    async handle(call) {
      const partitionId = numberOf(call, "partition_id");
      const segmentsCount = call.query.u32("segments_count");
      const request = encodeDeleteSegments({ ...topicOf(call), partitionId, segmentsCount });
      await call.session.ask("DeleteSegments", request);
      return undefined;
    },
  },
];
