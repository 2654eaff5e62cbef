import type { ConsumerOffset } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";

/** ConsumerOffsetInfo. */
export function offsetJson({ partitionId, currentOffset, storedOffset }: ConsumerOffset): JsonValue {
  return { partition_id: partitionId, current_offset: currentOffset, stored_offset: storedOffset };
}

/** The counterpart of `offsetJson`. */
export function readOffsetJson(fields: Fields): ConsumerOffset {
  return {
    partitionId: fields.u32("partition_id"),
    currentOffset: fields.count("current_offset"),
    storedOffset: fields.count("stored_offset"),
  };
}
