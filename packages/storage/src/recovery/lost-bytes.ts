import type { DiskFile } from "@millrace/platform";
import { readAt } from "../segment/file-calls.ts";

/** The smallest unit a disk writes at once or not at all; pages are made of whole ones. */
const SECTOR_LENGTH = 512;
const CHUNK_LENGTH = 65_536;

/** Bytes of a file, `to` exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * True when a sector that the range touches reads as nothing but zeros, from `start` on and as far as the
 * file goes: power was lost before its bytes reached the disk. Wrong bytes without such a sector were
 * changed later.
 *
 * @param start  where the thing begins that the range is a part of: what lies before it may have survived
 */
export async function hasLostSector(file: DiskFile, start: number, range: ByteRange): Promise<boolean> {
  const chunk = new Uint8Array(CHUNK_LENGTH);
  for (let at = sectorOf(range.from); at < range.to; at += CHUNK_LENGTH) {
    const length = await readAt(file, chunk, at);
    const sectors = Math.ceil(Math.min(length, range.to - at) / SECTOR_LENGTH);
    for (let sector = 0; sector < sectors; sector += 1) {
      const from = Math.max(sector * SECTOR_LENGTH, start - at);
      const bytes = chunk.subarray(from, Math.min(length, (sector + 1) * SECTOR_LENGTH));
      if (bytes.length > 0 && bytes.every((byte) => byte === 0)) return true;
    }
  }
  return false;
}

function sectorOf(position: number): number {
  return position - (position % SECTOR_LENGTH);
}
