import type { CollectSnapshot } from "@millrace/broker";
import type { Clock } from "@millrace/platform";
import type { SnapshotType } from "@millrace/protocol";
import { SNAPSHOT_PARTS, type SnapshotSources } from "./snapshot-parts.ts";
import { methodOf, type ZipEntry, zipFile } from "./zip-file.ts";

/** One part may take as long; six of them and the compression stay within the 30 s of a collection. */
const PART_MAX_MS = 4000;
/** Longest text of one part; the newest log lines, the longest of them, are half of it. */
const PART_LENGTH_MAX = 8 * 1024 * 1024;

const ALL = Object.keys(SNAPSHOT_PARTS) as Exclude<SnapshotType, "all">[];

/**
 * Makes snapshots. A part that fails or takes longer than 4 s is left out and named in `skipped.txt` with the
 * reason; the others are there.
 *
 * @see server-semantics section 13
 */
export function createSnapshotCollector(sources: SnapshotSources): CollectSnapshot {
  return async ({ compression, types }) => {
    methodOf(compression);
    const wanted = ALL.filter((type) => types.includes(type) || types.includes("all"));
    const entries: ZipEntry[] = [];
    const skipped: string[] = [];
    for (const type of wanted) {
      const { file, collect } = SNAPSHOT_PARTS[type];
      try {
        const collected = await withinTime(sources.platform.clock, collect(sources));
        entries.push({ name: file, bytes: cut(new TextEncoder().encode(collected)) });
      } catch (error) {
        skipped.push(`${file}: ${(error as Error).message}\n`);
        sources.platform.log.warn("A part of a snapshot is left out.", { part: type, error });
      }
    }
    if (skipped.length > 0) entries.push({ name: "skipped.txt", bytes: Buffer.from(skipped.join("")) });
    return zipFile(entries, compression);
  };
}

/** What is longer keeps its beginning. */
function cut(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, PART_LENGTH_MAX);
}

function withinTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(PART_MAX_MS, () => reject(new Error(`took longer than ${PART_MAX_MS} ms`)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
