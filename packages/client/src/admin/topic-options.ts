import { type FieldKindName, typedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";
import { type RawOptionValue, rawOptionField } from "./option-values.ts";

/** When a reply to a send leaves: after the write of every needed replica, or after its sync to disk too. */
export type Durability = "replicated" | "persisted";

/**
 * Options of a topic. What is left out gets the server's default. Times are micros, sizes bytes; text such as
 * `"7days"`, `"never_expire"`, `"10 GiB"` or `"unlimited"` is passed on for the server to read.
 */
export interface TopicOptions {
  readonly compression?: "none" | "gzip";
  /** Micros after which a message may be removed; `U64_MAX` or `"never_expire"` for never. */
  readonly messageExpiry?: bigint | number | string;
  /** Bytes; `U64_MAX` or `"unlimited"` for no limit. */
  readonly maxTopicSize?: bigint | number | string;
  /** Bytes, 1 MiB to 1 GiB in steps of 512. Cannot be changed later. */
  readonly segmentSize?: bigint | number | string;
  readonly durability?: Durability;
  readonly consumerOffsetDurability?: Durability;
  readonly messagesRequiredToSave?: number | string;
  readonly sizeOfMessagesRequiredToSave?: bigint | number | string;
  readonly preallocateSegments?: boolean;
  /** Further options by their key on the wire, as `describeOptions` lists them. */
  readonly options?: Readonly<Record<string, RawOptionValue>>;
}

/** Property, key on the wire, and kind of a value that is not text. */
const TYPED: readonly (readonly [Exclude<keyof TopicOptions, "options">, string, FieldKindName])[] = [
  ["compression", "compression_algorithm", "string"],
  ["messageExpiry", "message_expiry", "uint64"],
  ["maxTopicSize", "max_topic_size", "uint64"],
  ["segmentSize", "segment_size", "uint64"],
  ["durability", "durability", "string"],
  ["consumerOffsetDurability", "consumer_offset_durability", "string"],
  ["messagesRequiredToSave", "messages_required_to_save", "uint32"],
  ["sizeOfMessagesRequiredToSave", "size_of_messages_required_to_save", "uint64"],
  ["preallocateSegments", "preallocate_segments", "bool"],
];

/**
 * Options as they travel; a raw option replaces the typed one of the same key.
 *
 * @throws CodedError InvalidHeaderValue for a value outside its kind
 */
export function topicOptionEntries(topic: TopicOptions): OptionEntries {
  const fields = new Map<string, OptionEntries[number]>();
  for (const [property, key, kind] of TYPED) {
    const value = topic[property];
    if (value === undefined) continue;
    fields.set(key, { key, value: typedField(typeof value === "string" ? "string" : kind, value) });
  }
  for (const [key, value] of Object.entries(topic.options ?? {})) {
    fields.set(key, { key, value: rawOptionField(value) });
  }
  return [...fields.values()];
}
