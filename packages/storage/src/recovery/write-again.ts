import { type DiskFile, diskError } from "@millrace/platform";
import { datasync, readAt, writeAt } from "../segment/file-calls.ts";

/** Bytes read and written at once. */
const PIECE_LENGTH = 1_048_576;

/**
 * Writes the bytes of a range of a file to where they are, and syncs the file. Unlike a datasync alone this
 * also reaches the disk when an earlier datasync failed: the system takes the pages of that one for clean.
 *
 * @throws CodedError `IoError` with errno `EREMOTEIO` when two reads of the same bytes differ: nothing is
 *         written then; and what the disk answers
 */
export async function writeAgain(
  file: DiskFile,
  range: { readonly from: number; readonly end: number },
): Promise<void> {
  for (let position = range.from; position < range.end; position += PIECE_LENGTH) {
    const length = Math.min(PIECE_LENGTH, range.end - position);
    const bytes = await readPiece(file, position, length);
    const again = await readPiece(file, position, length);
    if (!isSame(bytes, again)) throw diskError({ operation: "read", path: file.path, errno: "EREMOTEIO" });
    await writeAt(file, bytes, position);
  }
  await datasync(file);
}

async function readPiece(file: DiskFile, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, await readAt(file, bytes, position));
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
