import { CodedError, ErrorCode } from "@millrace/errors";
import type { Environment } from "./environment.ts";

/** Keys of older releases and what replaces them; a path names a value or a whole table. */
export const REMOVED_KEYS: readonly { readonly path: readonly string[]; readonly instead: string }[] = [
  { path: ["system"], instead: "its tables at the top level of the file, such as [partition] and [logging]" },
  { path: ["stream"], instead: "the stream's own settings; there is no default for all streams" },
  { path: ["topic"], instead: "the options of create topic, such as message_expiry and max_topic_size" },
  { path: ["segment"], instead: "the topic option segment_size" },
  { path: ["message_deduplication"], instead: "nothing; request numbers make retries safe" },
  { path: ["extra"], instead: "nothing" },
  { path: ["enforce_fsync"], instead: "the topic option durability = persisted" },
  { path: ["partition", "enforce_fsync"], instead: "the topic option durability = persisted" },
  {
    path: ["consumer_offset_enforce_fsync"],
    instead: "the topic option consumer_offset_durability = persisted",
  },
  {
    path: ["partition", "consumer_offset_enforce_fsync"],
    instead: "the topic option consumer_offset_durability = persisted",
  },
  {
    path: ["partition", "messages_required_to_save"],
    instead: "the topic option messages_required_to_save",
  },
  {
    path: ["partition", "size_of_messages_required_to_save"],
    instead: "the topic option size_of_messages_required_to_save",
  },
  { path: ["partition", "path"], instead: "path at the top level" },
];

/**
 * Refuses a file or an environment with settings that no longer exist, so that none is ignored in silence.
 *
 * @throws CodedError InvalidConfiguration that names the key and its replacement
 */
export function refuseRemovedKeys(file: unknown, environment: Environment): void {
  for (const { path, instead } of REMOVED_KEYS) {
    if (valueAt(file, path) !== undefined) throw removed(path.join("."), instead);
  }
  const stale = Object.keys(environment).find((name) => /^(MILLRACE|IGGY)_SYSTEM_/.test(name));
  if (stale !== undefined) throw removed(stale, "the same name without SYSTEM_");
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== "object" || inner === null) return undefined;
    inner = (inner as Record<string, unknown>)[key];
  }
  return inner;
}

function removed(key: string, instead: string): CodedError {
  return new CodedError(
    ErrorCode.InvalidConfiguration,
    `The setting ${key} no longer exists. Use ${instead}.`,
    { details: { key } },
  );
}
