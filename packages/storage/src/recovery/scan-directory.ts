import type { Disk, Log } from "@millrace/platform";
import {
  compareSegmentNames,
  parseSegmentFileName,
  type SegmentName,
  segmentFileName,
} from "../segment/segment-name.ts";

/** The files found under one segment's name; a length is undefined when the file is not there. */
export interface FoundSegment extends SegmentName {
  logLength: number | undefined;
  opsLength: number | undefined;
}

/**
 * Segments by the names in a partition's directory, in order. Whatever else lies there is warned about and
 * left alone: we delete nothing we cannot prove to be ours.
 */
export async function scanDirectory(disk: Disk, path: string, log: Log): Promise<FoundSegment[]> {
  const found = new Map<string, FoundSegment>();
  for (const entry of await disk.readDirectory(path)) {
    const name = parseSegmentFileName(entry.name);
    if (name === undefined || entry.kind !== "file") {
      log.warn("A file that is not part of a partition is ignored.", { path: `${path}/${entry.name}` });
      continue;
    }
    if (name.kind === "index") continue;
    const key = segmentFileName(name, "log");
    const segment = found.get(key) ?? {
      generation: name.generation,
      firstOffset: name.firstOffset,
      logLength: undefined,
      opsLength: undefined,
    };
    const length = (await disk.stat(`${path}/${entry.name}`))?.length;
    if (name.kind === "log") segment.logLength = length;
    else segment.opsLength = length;
    found.set(key, segment);
  }
  return [...found.values()].toSorted(compareSegmentNames);
}
