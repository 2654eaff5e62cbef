import type { StoredOffset } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import { type Field, properties } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, type OffsetTyped, offsetTarget } from "./target.ts";

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
    run(async ({ client }, ...[consumer, stream, topic, partition, typed]: OffsetTyped) => {
      const { place, where } = offsetTarget([consumer, stream, topic, partition], typed);
      const offset = await (await client()).getConsumerOffset(place);
      if (offset === undefined) {
        throw new CodedError(ErrorCode.ConsumerOffsetNotFound, `No offset is stored for ${where}.`);
      }
      return properties(OFFSET_FIELDS, { ...offset, consumer });
    }),
  );
};
