import type { ChecksumKernel } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { setU64, u64At, viewOver } from "../op-record/u64-field.ts";
import { metadataDamaged, metadataTooNew } from "./metadata-damage.ts";

/** The state of the metadata group as of one op. */
export interface MetadataSnapshot {
  readonly op: number;
  readonly opChecksum: bigint;
  readonly view: number;
  readonly bytes: Uint8Array;
}

const HEADER_LENGTH = 64;
/** Largest snapshot: far above what 8192 sessions and a hundred thousand topics take. */
const SNAPSHOT_LENGTH_MAX = 1_073_741_824;
const VERSION = 1;
/** "MSNP". */
const MAGIC = 0x504e_534d;

/** Byte positions, see docs/spec/metadata-files.md. */
const AT = { checksum: 0, magic: 8, version: 12, op: 16, opChecksum: 24, view: 32, length: 40 } as const;

/** Path of the snapshot below the metadata directory. */
export function snapshotPath(path: string): string {
  return `${path}/snapshot.bin`;
}

/** Writes the snapshot so that after a crash either the old or the new one is there. */
export async function writeSnapshot(
  target: { readonly disk: Disk; readonly path: string; readonly kernel: ChecksumKernel },
  snapshot: MetadataSnapshot,
): Promise<void> {
  const bytes = new Uint8Array(HEADER_LENGTH + snapshot.bytes.length);
  const view = viewOver(bytes);
  view.setUint32(AT.magic, MAGIC, true);
  view.setUint8(AT.version, VERSION);
  setU64(view, AT.op, snapshot.op);
  view.setBigUint64(AT.opChecksum, snapshot.opChecksum, true);
  setU64(view, AT.view, snapshot.view);
  setU64(view, AT.length, snapshot.bytes.length);
  bytes.set(snapshot.bytes, HEADER_LENGTH);
  view.setBigUint64(AT.checksum, target.kernel.hashBytes(bytes.subarray(AT.magic)), true);
  await target.disk.writeWhole(snapshotPath(target.path), bytes);
}

/**
 * The snapshot, or nothing when there is none.
 * @throws CodedError `MetadataDamaged` when the file is there but not whole; `FormatTooNew`
 */
export async function readSnapshot(source: {
  readonly disk: Disk;
  readonly path: string;
  readonly kernel: ChecksumKernel;
}): Promise<MetadataSnapshot | undefined> {
  const path = snapshotPath(source.path);
  const bytes = await source.disk.readWhole(path, SNAPSHOT_LENGTH_MAX);
  if (bytes === undefined) return undefined;
  const view = viewOver(bytes);
  const place = { path, position: 0 };
  if (bytes.length < HEADER_LENGTH) throw metadataDamaged("the snapshot is shorter than its header", place);
  const checksum = source.kernel.hashBytes(bytes.subarray(AT.magic));
  if (checksum !== view.getBigUint64(AT.checksum, true)) {
    throw metadataDamaged("the snapshot does not match its checksum", place);
  }
  if (view.getUint32(AT.magic, true) !== MAGIC)
    throw metadataDamaged("the snapshot is of another kind", place);
  if (view.getUint8(AT.version) > VERSION) throw metadataTooNew(path);
  return {
    op: u64At(view, AT.op),
    opChecksum: view.getBigUint64(AT.opChecksum, true),
    view: u64At(view, AT.view),
    bytes: bytes.subarray(HEADER_LENGTH, HEADER_LENGTH + u64At(view, AT.length)),
  };
}
