import { type FieldKindName, type FieldValue, typedField } from "@millrace/framing";
import { bytes, choice, count, expiry, flag, type ParseValue, UNLIMITED } from "./parse-value.ts";

const MIB = 1n << 20n;
const GIB = 1n << 30n;

/** Segment size of a topic that does not say. */
const SEGMENT_SIZE_DEFAULT = GIB;

/** Smallest segment size that a topic may ask for, unless whoever resolves its options says otherwise. */
export const SEGMENT_SIZE_MIN_DEFAULT = Number(MIB);

/** One option of a catalog. */
export interface OptionRow {
  readonly key: string;
  /** Kind in which the value is stored and reported. */
  readonly kind: FieldKindName;
  readonly defaultValue: FieldValue;
  /** Data bytes of the default in the stored kind, as DescribeOptions reports them. */
  readonly defaultBytes: Uint8Array;
  readonly description: string;
  /** True when UpdateTopic may change it. */
  readonly updatable: boolean;
  /** True when the number 0 stands for the default. */
  readonly zeroIsDefault: boolean;
  readonly parse: ParseValue;
}

const row = (
  key: string,
  kind: FieldKindName,
  defaultValue: FieldValue,
  updatable: boolean,
  zeroIsDefault: boolean,
  parse: ParseValue,
  description: string,
): OptionRow => ({
  key,
  kind,
  defaultValue,
  defaultBytes: typedField(kind, defaultValue).bytes,
  description,
  updatable,
  zeroIsDefault,
  parse,
});

const DURABILITIES = ["replicated", "persisted"] as const;

/**
 * Options of a topic, in the order in which DescribeOptions lists them.
 * @see wire-protocol, section 6.5; server-semantics, section 3
 */
export const TOPIC_OPTION_CATALOG: readonly OptionRow[] = [
  row("compression_algorithm", "string", "none", true, false, choice(["none", "gzip"], true),
    "Compression that producers agree on: none or gzip; stored and reported only"),
  row("message_expiry", "uint64", UNLIMITED, true, true, expiry,
    "Microseconds after which messages may be removed; the largest value means never"),
  row("max_topic_size", "uint64", UNLIMITED, true, true, bytes({ words: true }),
    "Bytes above which the oldest segments are removed; the largest value means unlimited"),
  row("segment_size", "uint64", SEGMENT_SIZE_DEFAULT, false, true, bytes({ max: GIB, multipleOf: 512n }),
    "Bytes after which a segment is closed: 1 MiB to 1 GiB, a multiple of 512"),
  row("durability", "string", "replicated", false, false, choice(DURABILITIES),
    "What an acknowledged message has survived: replicated (written) or persisted (synced to disk)"),
  row("consumer_offset_durability", "string", "replicated", false, false, choice(DURABILITIES),
    "What an acknowledged consumer offset has survived: replicated or persisted"),
  row("messages_required_to_save", "uint32", 1024, false, false, count(1n, 16_777_216n),
    "Accepted and reported; every message is written before it is acknowledged"),
  row("size_of_messages_required_to_save", "uint64", MIB, false, true, bytes({ max: GIB }),
    "Accepted and reported; every message is written before it is acknowledged"),
  row("preallocate_segments", "bool", false, false, false, flag,
    "Reserves the space of a segment when it is created"),
];
