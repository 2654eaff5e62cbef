/**
 * Settings of a server under torture: its number of shards, and snapshots of the metadata as often as they
 * may be,
 * so that some are under way when it is killed.
 */
export function shardSettings(shards: number): Readonly<Record<string, string>> {
  return { MILLRACE_SHARDING_CPU_ALLOCATION: String(shards), MILLRACE_METADATA_JOURNAL_SLOTS: "256" };
}
