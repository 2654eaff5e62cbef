import type { StoredOffset } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import { type Field, properties } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, consumerOf, type KindTyped, whereText } from "./target.ts";

const OFFSET_FIELDS: readonly Field<StoredOffset & { consumer: number | string }>[] = [
  { name: "consumer", title: "Consumer", value: (offset) => offset.consumer },
  { name: "partition_id", title: "Partition", value: (offset) => offset.partitionId },
  { name: "current_offset", title: "Current offset", value: (offset) => offset.currentOffset },
  { name: "stored_offset", title: "Stored offset", value: (offset) => offset.storedOffset },
];

/** `millrace consumer-offset get CONSUMER STREAM TOPIC PARTITION` */
export const addConsumerOffsetGet: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "get", alias: "g", summary: "show the stored offset of a consumer" });
  addOffsetTarget(command).action(
    run(
      async (
        { client },
        consumer: number | string,
        stream: number | string,
        topic: number | string,
        partitionId: number,
        typed: KindTyped,
      ) => {
        const target = { consumer: consumerOf(consumer, typed), stream, topic, partitionId };
        const offset = await (await client()).getConsumerOffset(target);
        if (offset === undefined) {
          const where = whereText(consumer, topic, partitionId);
          throw new CodedError(ErrorCode.ConsumerOffsetNotFound, `No offset is stored for ${where}.`);
        }
        return properties(OFFSET_FIELDS, { ...offset, consumer });
      },
    ),
  );
};
