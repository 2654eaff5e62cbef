import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { PartitionHistory } from "../oracle/partition-history.ts";
import type { SentBatch } from "../oracle/sent-batches.ts";
import { Violation } from "../oracle/violation.ts";

/** A batch and where it lies in its segment's `.log`. */
export interface StoredBatch {
  readonly batch: SentBatch;
  readonly position: number;
}

/** One segment of a partition: its name without the ending, and the known batches in it. */
export interface SegmentContent {
  readonly name: string;
  readonly isActive: boolean;
  readonly batches: readonly StoredBatch[];
}

const LOG = /^(\d{20})(?:\.g(\d+))?\.log$/;

/**
 * What lies in which segment, by the names of the files and the lengths of the batches that clients know.
 *
 * @param folder  the partition's
 * @throws Violation answer when a file is not as long as its batches
 */
export function segmentContents(folder: string, history: PartitionHistory): SegmentContent[] {
  const found = readdirSync(folder).flatMap((file) => {
    const match = LOG.exec(file);
    const first = Number(match?.[1]);
    return match === null
      ? []
      : [{ name: file.slice(0, -".log".length), first, generation: Number(match[2] ?? 0) }];
  });
  const generation = Math.max(...found.map((one) => one.generation));
  const segments = found.filter((one) => one.generation === generation).sort((a, b) => a.first - b.first);
  return segments.map(({ name, first }, index) => {
    const end = segments[index + 1]?.first ?? Number.POSITIVE_INFINITY;
    let position = 0;
    const batches: StoredBatch[] = [];
    for (const batch of history.placed) {
      if (batch.baseOffset < first || batch.baseOffset >= end) continue;
      batches.push({ batch, position });
      position += batch.length;
    }
    const { size } = statSync(join(folder, `${name}.log`));
    if (size !== position) {
      throw new Violation("answer", `${folder}/${name}.log has ${size} bytes, its batches ${position}`);
    }
    return { name, isActive: index === segments.length - 1, batches };
  });
}
