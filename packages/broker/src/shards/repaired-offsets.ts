import type { RepairedOffsets } from "@millrace/storage";

/** What a repair may do with offsets in doubt, by the byte between shards. */
export const REPAIRED_OFFSETS: readonly RepairedOffsets[] = ["proven", "known", "none"];
