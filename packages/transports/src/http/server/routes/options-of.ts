import { typedField } from "@millrace/framing";
import { type OptionEntries, type OptionEntry, U64_MAX } from "@millrace/protocol";
import type { Fields } from "../../json/fields.ts";

/** The options of a body: an object of texts, as they are. @throws HttpError 422 */
export function optionsOf(fields: Fields): OptionEntries {
  if (!fields.has("options")) return [];
  const options = fields.object("options");
  return options.entries().map(([key]) => ({ key, value: typedField("string", options.text(key)) }));
}

/**
 * The options of a topic: fields of their own win over the same key in `options`.
 * @throws HttpError 422
 */
export function topicOptionsOf(fields: Fields): OptionEntries {
  const merged = new Map<string, OptionEntry>();
  for (const entry of optionsOf(fields)) merged.set(entry.key, entry);
  const compression = fields.optionalText("compression_algorithm");
  if (compression !== undefined) {
    const key = "compression_algorithm";
    merged.set(key, { key, value: typedField("string", compression) });
  }
  for (const key of ["message_expiry", "max_topic_size"]) {
    const value = fields.optionalU64(key);
    if (value !== undefined && value <= U64_MAX) merged.set(key, { key, value: typedField("uint64", value) });
  }
  return [...merged.values()];
}
