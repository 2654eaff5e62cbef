import type { ChecksumKernel } from "@millrace/framing";
import { setU64, setU128, u64At, u128At, viewOver } from "../op-record/u64-field.ts";

/** What a replica must know before it reads anything else. Views and ops are numbers below 2^53. */
export interface SuperblockRecord {
  /** Grows by one with every write; the newer of two good records wins. */
  readonly sequence: number;
  readonly view: number;
  /** Last view in which the replica was in status normal. */
  readonly logView: number;
  readonly cluster: bigint;
  readonly replica: number;
  readonly replicaCount: number;
  /** Op of the newest snapshot; a snapshot that is older has been lost or swapped. */
  readonly checkpointOp: number;
  /** An op known to be committed. */
  readonly commit: number;
  /** The journal may once have held more than it does: the replica gives no word that it never had an op. */
  readonly mayHaveLost: boolean;
  /** The replica may have told others something in its cluster: it was part of its forming, or taken in. */
  readonly hasSpoken: boolean;
  /**
   * Groups that an op up to this one made may have heard of this replica before its directory was lost; 0
   * when
   * it never was.
   */
  readonly forgottenOp: number;
}

/** Length of a superblock file. */
export const SUPERBLOCK_LENGTH = 128;
/** Version of the layout; a newer one is refused. */
const SUPERBLOCK_VERSION = 1;
/** "MSUP". */
const MAGIC = 0x5055_534d;
const MAY_HAVE_LOST_FLAG = 1;
const HAS_SPOKEN_FLAG = 2;

/** Byte positions, see docs/spec/metadata-files.md. */
const AT = {
  checksum: 0,
  magic: 8,
  version: 12,
  sequence: 16,
  view: 24,
  logView: 32,
  cluster: 40,
  replica: 56,
  replicaCount: 60,
  checkpointOp: 64,
  commit: 72,
  flags: 80,
  forgottenOp: 88,
} as const;

/** The record of a replica that never wrote one. */
export const FIRST_SUPERBLOCK: SuperblockRecord = {
  sequence: 0,
  view: 0,
  logView: 0,
  cluster: 0n,
  replica: 0,
  replicaCount: 1,
  checkpointOp: 0,
  commit: 0,
  mayHaveLost: false,
  hasSpoken: false,
  forgottenOp: 0,
};

/** The bytes of a superblock file. */
export function encodeSuperblock(kernel: ChecksumKernel, record: SuperblockRecord): Uint8Array {
  const bytes = new Uint8Array(SUPERBLOCK_LENGTH);
  const view = viewOver(bytes);
  view.setUint32(AT.magic, MAGIC, true);
  view.setUint8(AT.version, SUPERBLOCK_VERSION);
  setU64(view, AT.sequence, record.sequence);
  setU64(view, AT.view, record.view);
  setU64(view, AT.logView, record.logView);
  setU128(view, AT.cluster, record.cluster);
  view.setUint32(AT.replica, record.replica, true);
  view.setUint32(AT.replicaCount, record.replicaCount, true);
  setU64(view, AT.checkpointOp, record.checkpointOp);
  setU64(view, AT.commit, record.commit);
  const lostFlag = record.mayHaveLost ? MAY_HAVE_LOST_FLAG : 0;
  view.setUint32(AT.flags, lostFlag | (record.hasSpoken ? HAS_SPOKEN_FLAG : 0), true);
  setU64(view, AT.forgottenOp, record.forgottenOp);
  view.setBigUint64(AT.checksum, kernel.hashBytes(bytes.subarray(AT.magic)), true);
  return bytes;
}

/** A superblock as read: its record, or why it is none. */
export type DecodedSuperblock = SuperblockRecord | "damaged" | "too-new";

/** What the bytes of a superblock file hold. */
export function decodeSuperblock(kernel: ChecksumKernel, bytes: Uint8Array): DecodedSuperblock {
  const view = viewOver(bytes);
  if (bytes.length !== SUPERBLOCK_LENGTH || view.getUint32(AT.magic, true) !== MAGIC) return "damaged";
  if (kernel.hashBytes(bytes.subarray(AT.magic)) !== view.getBigUint64(AT.checksum, true)) return "damaged";
  if (view.getUint8(AT.version) > SUPERBLOCK_VERSION) return "too-new";
  const flags = view.getUint32(AT.flags, true);
  return {
    sequence: u64At(view, AT.sequence),
    view: u64At(view, AT.view),
    logView: u64At(view, AT.logView),
    cluster: u128At(view, AT.cluster),
    replica: view.getUint32(AT.replica, true),
    replicaCount: view.getUint32(AT.replicaCount, true),
    checkpointOp: u64At(view, AT.checkpointOp),
    commit: u64At(view, AT.commit),
    mayHaveLost: (flags & MAY_HAVE_LOST_FLAG) !== 0,
    hasSpoken: (flags & HAS_SPOKEN_FLAG) !== 0,
    forgottenOp: u64At(view, AT.forgottenOp),
  };
}
