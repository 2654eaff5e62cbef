import { CodedError, ErrorCode } from "@millrace/errors";
import type { ChecksumKernel } from "@millrace/framing";
import { type Disk, type Log, silentLog } from "@millrace/platform";
import {
  decodeSuperblock,
  encodeSuperblock,
  FIRST_SUPERBLOCK,
  SUPERBLOCK_LENGTH,
  type SuperblockRecord,
} from "./superblock-record.ts";

const FILE_NAMES = ["superblock.a", "superblock.b"] as const;

/** A pair of files that take turns, so that a write never touches the newest good record. */
export class Superblock {
  readonly #disk: Disk;
  readonly #path: string;
  readonly #kernel: ChecksumKernel;
  #record: SuperblockRecord;
  #isDoubtful: boolean;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    source: { readonly disk: Disk; readonly path: string; readonly kernel: ChecksumKernel },
    record: SuperblockRecord,
    isDoubtful = false,
  ) {
    this.#disk = source.disk;
    this.#path = source.path;
    this.#kernel = source.kernel;
    this.#record = record;
    this.#isDoubtful = isDoubtful;
  }

  /**
   * True while the other file of the pair is damaged or gone: that may have been the newest record. Ends with
   * the next write, which takes that file's place.
   */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** The newest record that is on disk; sequence 0 when none was ever written. */
  get record(): SuperblockRecord {
    return this.#record;
  }

  /**
   * Changes some fields and answers when the whole record survives power loss. Writes wait for each other.
   */
  write(changes: Partial<Omit<SuperblockRecord, "sequence">>): Promise<void> {
    const written = this.#writing.then(() => this.#write(changes));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(changes: Partial<Omit<SuperblockRecord, "sequence">>): Promise<void> {
    const record = { ...this.#record, ...changes, sequence: this.#record.sequence + 1 };
    const fileName = FILE_NAMES[record.sequence % FILE_NAMES.length];
    await this.#disk.writeWhole(`${this.#path}/${fileName}`, encodeSuperblock(this.#kernel, record));
    this.#record = record;
    this.#isDoubtful = false;
  }
}

/**
 * Reads the pair `superblock.a`, `superblock.b` below `path`; the newest good record wins.
 * @throws CodedError `MetadataDamaged` when files are there but none is good; `FormatTooNew`
 */
export async function openSuperblock(
  disk: Disk,
  path: string,
  kernel: ChecksumKernel,
  log: Log = silentLog,
): Promise<Superblock> {
  let newest: SuperblockRecord | undefined;
  let damagedPath: string | undefined;
  let missingPath: string | undefined;
  for (const fileName of FILE_NAMES) {
    const filePath = `${path}/${fileName}`;
    const record = await readSuperblock(disk, filePath, kernel);
    if (record === "damaged") damagedPath = filePath;
    else if (record === undefined) missingPath = filePath;
    else if (record !== undefined && record.sequence > (newest?.sequence ?? -1)) newest = record;
  }
  if (damagedPath !== undefined) {
    if (newest === undefined) throw superblockDamaged(damagedPath);
    log.warn("One of the two superblocks is damaged; the other one is used.", { path: damagedPath });
  }
  // The second record is the first of its file: from then on both are there.
  const isOneGone = missingPath !== undefined && (newest?.sequence ?? 0) >= FILE_NAMES.length;
  if (isOneGone)
    log.warn("One of the two superblocks is gone; the other one is used.", { path: missingPath });
  const isDoubtful = damagedPath !== undefined || isOneGone;
  return new Superblock({ disk, path, kernel }, newest ?? FIRST_SUPERBLOCK, isDoubtful);
}

async function readSuperblock(
  disk: Disk,
  path: string,
  kernel: ChecksumKernel,
): Promise<SuperblockRecord | "damaged" | undefined> {
  const found = await disk.stat(path);
  if (found === undefined) return undefined;
  if (found.kind !== "file" || found.length !== SUPERBLOCK_LENGTH) return "damaged";
  const bytes = await disk.readWhole(path, SUPERBLOCK_LENGTH);
  const record = decodeSuperblock(kernel, bytes ?? new Uint8Array());
  if (record !== "too-new") return record;
  throw new CodedError(
    ErrorCode.FormatTooNew,
    `The file ${path} was written by a later version of Millrace.`,
    {
      details: { path },
    },
  );
}

function superblockDamaged(path: string): CodedError {
  return new CodedError(ErrorCode.MetadataDamaged, `No superblock is readable; ${path} is damaged.`, {
    details: { path, position: 0 },
  });
}
