import { isCodedError } from "@millrace/errors";
import { isWireError } from "@millrace/framing";
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

/** A header as it is shown: in JSON, and as text in tables. */
interface ShownHeader {
  readonly key: JsonValue;
  readonly keyKind: string;
  readonly value: JsonValue;
  readonly kind: string;
  readonly title: string;
  readonly text: string;
}

/** One column for each distinct header of `messages`, titled with its key and kind. */
export function headerFields(messages: readonly ShownMessage[]): Field<ShownMessage>[] {
  const titles = new Set(messages.flatMap((message) => headersOf(message).map(({ title }) => title)));
  return [...titles].map((title) => ({
    name: title,
    title: `Header: ${title}`,
    value: (message) => headersOf(message).find((header) => header.title === title)?.text ?? null,
  }));
}

/**
 * The headers of a message; one that says so where its sender wrote none that can be read. Servers store
 * headers without reading them, and one such message must not hide all the others.
 */
function headersOf(message: ShownMessage): readonly ShownHeader[] {
  try {
    return message.headerFields.map(shownHeader);
  } catch (error) {
    if (!isCodedError(error) && !isWireError(error)) throw error;
    const bytes = Buffer.from(message.userHeaders).toString("base64");
    const kind = "base64";
    return [
      { key: null, keyKind: "unreadable", value: bytes, kind, title: "unreadable / base64", text: bytes },
    ];
  }
}

function shownHeader([key, value]: ShownMessage["headerFields"][number]): ShownHeader {
  return {
    key: fieldJson(key),
    keyKind: fieldKindText(key),
    value: fieldJson(value),
    kind: fieldKindText(value),
    title: `${fieldText(key)} / ${fieldKindText(value)}`,
    text: fieldText(value),
  };
}

function headersJson(message: ShownMessage): JsonValue {
  return headersOf(message).map(({ key, keyKind, value, kind }) => ({ key, key_kind: keyKind, value, kind }));
}
