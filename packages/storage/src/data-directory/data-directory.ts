import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Disk, DiskLock } from "@millrace/platform";

/** Lock file of the process that uses the data directory. */
const LOCK_FILE = "millrace.lock";
/** File that says whose a data directory is. */
export const FORMAT_FILE = "millrace.format";
/**
 * Version of the directory as a whole; a newer one is refused. A directory that is not encrypted has version
 * 1: whoever reads only that would take encrypted messages for what was sent.
 */
const FORMAT_VERSION = 2;
const FORMAT_VERSION_PLAIN = 1;
const PRODUCT = "millrace";
/** The one way of encryption there is. */
const CIPHER = "xaes-256-gcm";
const HEX = /^([0-9a-f]{2})+$/;
/** A format file is one line of JSON. */
const FORMAT_LENGTH_MAX = 4096;
/** Names that say nothing about whose a directory is: what file systems and desktops put into one. */
const INNOCENT_NAMES = /^(lost\+found|\..*|millrace\..*)$/;
/** Names told in a refusal; more would not help. */
const NAMES_TOLD_MAX = 5;

/** What the format file says. */
export interface DataFormat {
  readonly version: number;
  /** Replica id of the node whose data this is. */
  readonly nodeId: number;
  /** What proves the key of an encrypted directory, see `checkEncryption`; nothing when it is not one. */
  readonly keyCheck: Uint8Array | undefined;
}

/**
 * Takes the data directory for this process until `release` or its end; makes the directory when it is
 * absent.
 * @throws CodedError `DataDirectoryInUse` with the holder's process id; `DataDirectoryUnusable` when it
 * cannot be
 *         made or written
 */
export async function lockDataDirectory(disk: Disk, path: string = LOCK_FILE): Promise<DiskLock> {
  return usable(disk, async () => {
    await disk.makeDirectory("");
    return disk.lock(path);
  });
}

/**
 * Whose data this is: the format, or nothing when the directory is empty and free to be used.
 *
 * @param nodeId  replica id of the node that means to use it; left out by who only looks
 * @throws CodedError `FormatTooNew`; `ForeignDataDirectory` when it holds the data of another product or
 *         node, or files but no format; `DataDirectoryUnusable` when it cannot be read
 */
export async function checkDataFormat(disk: Disk, nodeId?: number): Promise<DataFormat | undefined> {
  const bytes = await usable(disk, () => disk.readWhole(FORMAT_FILE, FORMAT_LENGTH_MAX));
  if (bytes !== undefined) {
    const format = parseFormat(disk, bytes);
    if (nodeId === undefined || format.nodeId === nodeId) return format;
    throw foreign(disk, `it holds the data of node ${format.nodeId}, and this is node ${nodeId}`);
  }
  const entries = await usable(disk, () => disk.readDirectory(""));
  const names = entries.map((entry) => entry.name).filter((name) => !INNOCENT_NAMES.test(name));
  if (names.length === 0) return undefined;
  const found = names.slice(0, NAMES_TOLD_MAX).join(", ");
  throw foreign(disk, `it is not empty and has no ${FORMAT_FILE}; found: ${found}`);
}

/**
 * Makes the directory ours, encrypted when there is a key check. @throws CodedError `DataDirectoryUnusable`,
 * `DiskFull`
 */
export async function writeDataFormat(
  disk: Disk,
  nodeId: number,
  keyCheck?: Uint8Array,
): Promise<DataFormat> {
  const version = keyCheck === undefined ? FORMAT_VERSION_PLAIN : FORMAT_VERSION;
  const encryption = keyCheck && { cipher: CIPHER, keyCheck: toHex(keyCheck) };
  const bytes = new TextEncoder().encode(
    `${JSON.stringify({ product: PRODUCT, version, nodeId, encryption })}\n`,
  );
  await usable(disk, () => disk.writeWhole(FORMAT_FILE, bytes));
  return { version, nodeId, keyCheck };
}

function parseFormat(disk: Disk, bytes: Uint8Array): DataFormat {
  const { product, version, nodeId, encryption } = parseObject(disk, bytes);
  if (product !== PRODUCT)
    throw foreign(disk, `its ${FORMAT_FILE} names the product ${JSON.stringify(product)}`);
  if (typeof version !== "number" || typeof nodeId !== "number") {
    throw foreign(disk, `its ${FORMAT_FILE} lacks the version or the node id`);
  }
  if (version > FORMAT_VERSION) {
    const text = `${disk.root} has format ${version}; this version of Millrace reads ${FORMAT_VERSION}.`;
    throw new CodedError(ErrorCode.FormatTooNew, text, { details: { version, versionMax: FORMAT_VERSION } });
  }
  return { version, nodeId, keyCheck: keyCheckOf(disk, encryption) };
}

function keyCheckOf(disk: Disk, encryption: unknown): Uint8Array | undefined {
  if (encryption === undefined) return undefined;
  const { cipher, keyCheck } = Object(encryption) as { cipher?: unknown; keyCheck?: unknown };
  if (cipher === CIPHER && typeof keyCheck === "string" && HEX.test(keyCheck)) return fromHex(keyCheck);
  throw foreign(disk, `its ${FORMAT_FILE} does not tell how it is encrypted`);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function parseObject(disk: Disk, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof parsed === "object" && parsed !== null) return parsed as Record<string, unknown>;
  } catch {
    // Falls through to the same refusal as JSON that is no object.
  }
  throw foreign(disk, `its ${FORMAT_FILE} is not readable`);
}

function foreign(disk: Disk, why: string): CodedError {
  const text = `The directory ${disk.root} is not a Millrace data directory: ${why}. Name an empty one.`;
  return new CodedError(ErrorCode.ForeignDataDirectory, text, { details: { path: disk.root } });
}

/** Turns a failing file system into the refusal a user can act on. */
async function usable<Result>(disk: Disk, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (!isCodedError(error, ErrorCode.IoError)) throw error;
    const text = `The data directory ${disk.root} cannot be used: ${error.message}`;
    throw new CodedError(ErrorCode.DataDirectoryUnusable, text, {
      details: { path: disk.root },
      cause: error,
    });
  }
}
