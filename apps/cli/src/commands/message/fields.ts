import type { ShownMessage } from "../../connection/client.ts";
import { bytesText } from "../../formats/payload.ts";
import { timestampText } from "../../formats/timestamp.ts";
import { fieldJson, fieldKindText, fieldText } from "../../formats/typed-field-text.ts";
import type { JsonValue } from "../../output/json-writer.ts";
import type { Field } from "../../output/result.ts";

/** What is shown of a message, in the order of `message poll`. */
export const MESSAGE_FIELDS: readonly Field<ShownMessage>[] = [
  { name: "offset", title: "Offset", value: (message) => message.offset },
  {
    name: "timestamp",
    title: "Timestamp",
    value: (message) => message.timestamp,
    text: (message) => timestampText(message.timestamp),
  },
  { name: "id", title: "ID", value: (message) => message.id },
  { name: "length", title: "Length", value: (message) => message.payload.length },
  { name: "payload", title: "Payload", value: (message) => bytesText(message.payload).text },
];

/** Facts of a message that tables leave out and JSON has. */
const JSON_FIELDS: readonly Field<ShownMessage>[] = [
  { name: "payload_encoding", title: "", value: (message) => bytesText(message.payload).encoding },
  { name: "partition_id", title: "", value: (message) => message.partitionId },
  { name: "origin_timestamp", title: "", value: (message) => message.originTimestamp },
  { name: "headers", title: "", value: headersJson },
];

/** All that JSON shows of a message. */
export const MESSAGE_JSON_FIELDS = [...MESSAGE_FIELDS, ...JSON_FIELDS];

/** The partition of a message, for answers that mix partitions. */
export const PARTITION_FIELD: Field<ShownMessage> = {
  name: "partition_id",
  title: "Partition",
  value: (message) => message.partitionId,
};

/** One column for each distinct header of `messages`, titled with its key and kind. */
export function headerFields(messages: readonly ShownMessage[]): Field<ShownMessage>[] {
  const titles = new Set(messages.flatMap((message) => message.headerFields.map(headerTitle)));
  return [...titles].map((title) => ({
    name: title,
    title: `Header: ${title}`,
    value: (message) => {
      const found = message.headerFields.find((pair) => headerTitle(pair) === title);
      return found === undefined ? null : fieldText(found[1]);
    },
  }));
}

function headerTitle([key, value]: ShownMessage["headerFields"][number]): string {
  return `${fieldText(key)} / ${fieldKindText(value)}`;
}

function headersJson(message: ShownMessage): JsonValue {
  return message.headerFields.map(([key, value]) => ({
    key: fieldJson(key),
    key_kind: fieldKindText(key),
    value: fieldJson(value),
    kind: fieldKindText(value),
  }));
}
