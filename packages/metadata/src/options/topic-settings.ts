/** Compression codes of a topic record. */
export const Compression = { none: 1, gzip: 2 } as const;

/** When an append or an offset counts: written to the file, or synced to the disk. */
export type Durability = "replicated" | "persisted";

/** A topic's options as the server uses them: defaults filled in, texts resolved. */
export interface TopicSettings {
  /** Microseconds; 2^64-1 means never. */
  readonly messageExpiry: bigint;
  /** Bytes; 2^64-1 means unlimited. */
  readonly maxTopicSize: bigint;
  /** 1 none, 2 gzip. */
  readonly compression: 1 | 2;
  /** Bytes, 1 MiB to 1 GiB. */
  readonly segmentSize: number;
  readonly durability: Durability;
  readonly consumerOffsetDurability: Durability;
  readonly preallocateSegments: boolean;
}

/** What an update changes; an absent field stays as it is. */
export interface TopicSettingsChange {
  readonly messageExpiry?: bigint;
  readonly maxTopicSize?: bigint;
  readonly compression?: 1 | 2;
}
