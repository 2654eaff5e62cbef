import type { ChecksumKernel } from "@millrace/framing";
import type { Disk, Log } from "@millrace/platform";
import { metadataDamaged, metadataTooNew } from "../metadata-journal/metadata-damage.ts";
import { viewOver } from "../op-record/u64-field.ts";
import type { LoggedView } from "./view-log.ts";
import { readViewRecord, VIEW_RECORD_LENGTH } from "./view-record.ts";

/** Name of the file in the directory of the metadata. */
export const VIEW_FILE = "views.wal";
/** Two million groups with a record each; a longer file is nobody's. */
const VIEW_FILE_LENGTH_MAX = 134_217_728;
/** Bytes a device writes at once or not at all, at least. */
const SECTOR_LENGTH = 512;

/** What the file of views lives on. */
export interface ViewLogSource {
  readonly disk: Disk;
  /** Directory of the metadata, relative to the disk's root. */
  readonly path: string;
  readonly kernel: ChecksumKernel;
  readonly log: Log;
}

/**
 * Every whole record of the file, in the order in which they were written; `length` is behind the last.
 * @throws CodedError `MetadataDamaged`, `FormatTooNew`, or what the disk answers
 */
export async function readViewFile(
  source: ViewLogSource,
): Promise<{ readonly records: readonly LoggedView[]; readonly length: number }> {
  const path = `${source.path}/${VIEW_FILE}`;
  const bytes = (await source.disk.readWhole(path, VIEW_FILE_LENGTH_MAX)) ?? new Uint8Array();
  const view = viewOver(bytes);
  const records: LoggedView[] = [];
  let at = 0;
  for (; at + VIEW_RECORD_LENGTH <= bytes.length; at += VIEW_RECORD_LENGTH) {
    const record = readViewRecord(source.kernel, bytes, view, at);
    if (record === "too-new") throw metadataTooNew(path);
    if (record === "damaged") break;
    records.push(record);
  }
  if (!isUnwritten(bytes, at)) {
    throw metadataDamaged("a record of a group's view does not match its checksum", { path, position: at });
  }
  return { records, length: at };
}

/**
 * True when a crash can have left what lies from `at` on: less than a record, or the rest of a sector that
 * was
 * not written. A record never lies in two sectors, so one that is there in part was whole once.
 */
function isUnwritten(bytes: Uint8Array, at: number): boolean {
  if (bytes.length - at < VIEW_RECORD_LENGTH) return true;
  const sectorEnd = at + SECTOR_LENGTH - (at % SECTOR_LENGTH);
  return bytes.subarray(at, sectorEnd).every((byte) => byte === 0);
}
