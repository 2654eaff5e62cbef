import type { DiskFile } from "@millrace/platform";
import { datasync, readAt, writeAt } from "../segment/file-calls.ts";

/** Bytes read and written at once. */
const PIECE_LENGTH = 1_048_576;

/**
 * Writes the bytes of a range of a file to where they are, and syncs the file. Unlike a datasync alone this
 * also reaches the disk when an earlier datasync failed: the system takes the pages of that one for clean.
 */
export async function writeAgain(
  file: DiskFile,
  range: { readonly from: number; readonly end: number },
): Promise<void> {
  for (let position = range.from; position < range.end; position += PIECE_LENGTH) {
    const bytes = new Uint8Array(Math.min(PIECE_LENGTH, range.end - position));
    const length = await readAt(file, bytes, position);
    await writeAt(file, bytes.subarray(0, length), position);
  }
  await datasync(file);
}
