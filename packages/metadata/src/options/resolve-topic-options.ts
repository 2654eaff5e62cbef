import { CodedError, ErrorCode } from "@millrace/errors";
import { type FieldValue, isWireError, type TypedField, typedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";
import { type OptionMap, optionMap } from "./option-map.ts";
import { UNLIMITED } from "./parse-value.ts";
import { type OptionRow, SEGMENT_SIZE_MIN_DEFAULT, TOPIC_OPTION_CATALOG } from "./topic-options.table.ts";
import {
  Compression,
  type Durability,
  type TopicSettings,
  type TopicSettingsChange,
} from "./topic-settings.ts";

/** Bytes a single CreateTopic may reserve: 64 full-size segments, or a thousand of 64 MiB. */
const PREALLOCATED_LENGTH_MAX = 64n * (1n << 30n);
const SEGMENT_SIZE = "segment_size";
/** Characters of a client's key that an error repeats. */
const KEY_SHOWN_MAX = 64;

/** What a new topic's options are checked against, beside the catalog. */
export interface TopicBounds {
  readonly partitionsCount?: number;
  readonly segmentSizeMin?: number;
}

/** A new topic's options: what the client said, what was filled in, and what both come to. */
export interface ResolvedTopicOptions {
  /** Keys sent, in their stored kind, with 0 already replaced by the default it stands for. */
  readonly explicit: OptionMap;
  /** Keys not sent, at their defaults. */
  readonly derived: OptionMap;
  readonly settings: TopicSettings;
}

/** Options an update changes: bytes as sent, and what they come to. */
export interface ResolvedTopicUpdate {
  readonly options: OptionMap;
  readonly change: TopicSettingsChange;
}

/**
 * Checks the options of a CreateTopic against the catalog and fills in the rest.
 *
 * @param bounds.partitionsCount  bounds what `preallocate_segments` may reserve at once
 * @param bounds.segmentSizeMin   smallest `segment_size` in bytes
 * @throws CodedError UnsupportedOptionKey for an unknown key; InvalidOptionValue for a wrong kind, an
 *         unreadable or out-of-bounds value; InvalidTopicSize for a finite `max_topic_size` below
 *         `segment_size`
 */
export function resolveTopicOptions(
  entries: OptionEntries,
  { partitionsCount = 0, segmentSizeMin = SEGMENT_SIZE_MIN_DEFAULT }: TopicBounds = {},
): ResolvedTopicOptions {
  const values = new Map<string, FieldValue>();
  for (const { key, value } of entries) {
    const row = rowOf(key);
    const parsed = parsedValue(row, value);
    values.set(key, row.zeroIsDefault && parsed === 0n ? row.defaultValue : parsed);
  }
  const rows = TOPIC_OPTION_CATALOG;
  const field = (row: OptionRow): readonly [string, TypedField] => [
    row.key,
    typedField(row.kind, values.get(row.key) ?? row.defaultValue),
  ];
  const settings = settingsOf((key) => values.get(key) ?? rowOf(key).defaultValue);
  if (settings.segmentSize < segmentSizeMin) throw invalid(SEGMENT_SIZE, rowOf(SEGMENT_SIZE).description);
  checkSizes(settings, partitionsCount);
  return {
    explicit: optionMap(rows.filter(({ key }) => values.has(key)).map(field)),
    derived: optionMap(rows.filter(({ key }) => !values.has(key)).map(field)),
    settings,
  };
}

/**
 * Checks the options of an UpdateTopic. Keys not sent stay as they are, and so does an expiry or size of 0.
 *
 * Departure from the reference: there, such a 0 is stored while the resolved number stays; here both stay.
 * @throws CodedError UnsupportedOptionKey for a key that is unknown or fixed at creation; InvalidOptionValue
 */
export function resolveTopicUpdate(entries: OptionEntries): ResolvedTopicUpdate {
  const kept: (readonly [string, TypedField])[] = [];
  const values = new Map<string, FieldValue>();
  for (const { key, value } of entries) {
    const row = rowOf(key);
    if (!row.updatable) throw unsupported(key, "cannot be changed after creation");
    const parsed = parsedValue(row, value);
    if (row.zeroIsDefault && parsed === 0n) continue;
    kept.push([key, value]);
    values.set(key, parsed);
  }
  return { options: optionMap(kept), change: changeOf(values) };
}

/**
 * Refuses every option: the catalogs of streams and users are empty.
 * @throws CodedError UnsupportedOptionKey
 */
export function refuseOptions(entries: OptionEntries): void {
  const first = entries[0];
  if (first !== undefined) throw unsupported(first.key, "is not an option here");
}

function rowOf(key: string): OptionRow {
  const row = TOPIC_OPTION_CATALOG.find((one) => one.key === key);
  if (row === undefined) throw unsupported(key, "is not a topic option");
  return row;
}

/** A field that does not decode (a hand-made one) is as unacceptable as one of a wrong kind. */
function parsedValue(row: OptionRow, field: TypedField): FieldValue {
  try {
    const value = row.parse(field);
    if (value !== undefined) return value;
  } catch (error) {
    if (!isWireError(error)) throw error;
  }
  throw invalid(row.key, row.description);
}

function settingsOf(of: (key: string) => FieldValue): TopicSettings {
  return {
    messageExpiry: of("message_expiry") as bigint,
    maxTopicSize: of("max_topic_size") as bigint,
    compression: compressionOf(of("compression_algorithm")),
    segmentSize: Number(of("segment_size")),
    durability: of("durability") as Durability,
    consumerOffsetDurability: of("consumer_offset_durability") as Durability,
    preallocateSegments: of("preallocate_segments") as boolean,
  };
}

function changeOf(values: ReadonlyMap<string, FieldValue>): TopicSettingsChange {
  const expiry = values.get("message_expiry");
  const size = values.get("max_topic_size");
  const compression = values.get("compression_algorithm");
  return {
    ...(expiry === undefined ? {} : { messageExpiry: expiry as bigint }),
    ...(size === undefined ? {} : { maxTopicSize: size as bigint }),
    ...(compression === undefined ? {} : { compression: compressionOf(compression) }),
  };
}

function compressionOf(value: FieldValue): 1 | 2 {
  return value === "gzip" ? Compression.gzip : Compression.none;
}

function checkSizes(settings: TopicSettings, partitionsCount: number): void {
  const { maxTopicSize, segmentSize } = settings;
  if (maxTopicSize !== UNLIMITED && maxTopicSize < segmentSize) {
    throw new CodedError(ErrorCode.InvalidTopicSize, "max_topic_size is smaller than segment_size.", {
      details: { maxTopicSize, segmentSize },
    });
  }
  const reserved = BigInt(segmentSize) * BigInt(partitionsCount);
  if (settings.preallocateSegments && reserved > PREALLOCATED_LENGTH_MAX) {
    throw invalid(
      "preallocate_segments",
      `segment_size x partitions may reserve ${PREALLOCATED_LENGTH_MAX} bytes`,
    );
  }
}

function unsupported(key: string, why: string): CodedError {
  const shown = shownKey(key);
  return new CodedError(ErrorCode.UnsupportedOptionKey, `"${shown}" ${why}.`, { details: { key: shown } });
}

function invalid(key: string, expected: string): CodedError {
  const shown = shownKey(key);
  return new CodedError(ErrorCode.InvalidOptionValue, `The value of "${shown}" is not valid. ${expected}.`, {
    details: { key: shown },
  });
}

/** Whole characters, so that no half of a pair is shown. */
function shownKey(key: string): string {
  return [...key].slice(0, KEY_SHOWN_MAX).join("");
}
