import type { ChecksumKernel } from "@millrace/framing";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { setU64, u64At } from "../op-record/u64-field.ts";

/** What a replica of one partition's group must know before it speaks. Views and ops are below 2^53. */
export interface GroupView {
  readonly view: number;
  /** Last view in which the replica was in status normal. */
  readonly logView: number;
  /** The journal may once have held more than it does: the replica gives no word that it never had an op. */
  readonly mayHaveLost: boolean;
  /** Ops above this one are to be cut off before the partition is opened; nothing when none are. */
  readonly cutAbove: number | undefined;
  /** Another replica's state, fetched in full, takes the files' place before the partition is opened. */
  readonly hasIncoming: boolean;
}

/** The view of a group that was never heard of. */
export const FIRST_VIEW: GroupView = {
  view: 0,
  logView: 0,
  mayHaveLost: false,
  cutAbove: undefined,
  hasIncoming: false,
};

/** Length of every record; a divisor of a sector, so that none lies in two. */
export const VIEW_RECORD_LENGTH = 64;
/** "MRVW". */
const MAGIC = 0x5756_524d;
const VERSION = 1;
const HAS_CUT_FLAG = 1;
const MAY_HAVE_LOST_FLAG = 2;
const HAS_INCOMING_FLAG = 4;

/** Byte positions, see docs/spec/metadata-files.md. */
const AT = {
  checksum: 0,
  magic: 8,
  version: 12,
  flags: 13,
  stream: 16,
  topic: 20,
  partition: 24,
  revision: 32,
  view: 40,
  logView: 44,
  cutAbove: 48,
} as const;

/** Writes a record at `position` of `bytes`, which `view` covers too. */
export function writeViewRecord(
  kernel: ChecksumKernel,
  target: { readonly bytes: Uint8Array; readonly view: DataView; readonly position: number },
  identity: PartitionIdentity,
  group: GroupView,
): void {
  const { bytes, view, position: at } = target;
  bytes.fill(0, at, at + VIEW_RECORD_LENGTH);
  view.setUint32(at + AT.magic, MAGIC, true);
  view.setUint8(at + AT.version, VERSION);
  view.setUint8(at + AT.flags, flagsOf(group));
  view.setUint32(at + AT.stream, identity.streamId, true);
  view.setUint32(at + AT.topic, identity.topicId, true);
  view.setUint32(at + AT.partition, identity.partitionId, true);
  setU64(view, at + AT.revision, identity.revision);
  view.setUint32(at + AT.view, group.view, true);
  view.setUint32(at + AT.logView, group.logView, true);
  setU64(view, at + AT.cutAbove, group.cutAbove ?? 0);
  const covered = bytes.subarray(at + AT.magic, at + VIEW_RECORD_LENGTH);
  view.setBigUint64(at + AT.checksum, kernel.hashBytes(covered), true);
}

function flagsOf({ cutAbove, mayHaveLost, hasIncoming }: GroupView): number {
  const cutFlag = cutAbove === undefined ? 0 : HAS_CUT_FLAG;
  return cutFlag | (mayHaveLost ? MAY_HAVE_LOST_FLAG : 0) | (hasIncoming ? HAS_INCOMING_FLAG : 0);
}

/** A record as read: what it says, or why it says nothing. */
export type ViewRecord =
  | { readonly identity: PartitionIdentity; readonly group: GroupView }
  | "damaged"
  | "too-new";

/** Reads the record at `position`, which is inside `bytes` as a whole. */
export function readViewRecord(
  kernel: ChecksumKernel,
  bytes: Uint8Array,
  view: DataView,
  at: number,
): ViewRecord {
  if (view.getUint32(at + AT.magic, true) !== MAGIC) return "damaged";
  const covered = bytes.subarray(at + AT.magic, at + VIEW_RECORD_LENGTH);
  if (kernel.hashBytes(covered) !== view.getBigUint64(at + AT.checksum, true)) return "damaged";
  if (view.getUint8(at + AT.version) > VERSION) return "too-new";
  const flags = view.getUint8(at + AT.flags);
  return {
    identity: {
      streamId: view.getUint32(at + AT.stream, true),
      topicId: view.getUint32(at + AT.topic, true),
      partitionId: view.getUint32(at + AT.partition, true),
      revision: u64At(view, at + AT.revision),
    },
    group: {
      view: view.getUint32(at + AT.view, true),
      logView: view.getUint32(at + AT.logView, true),
      mayHaveLost: (flags & MAY_HAVE_LOST_FLAG) !== 0,
      cutAbove: (flags & HAS_CUT_FLAG) !== 0 ? u64At(view, at + AT.cutAbove) : undefined,
      hasIncoming: (flags & HAS_INCOMING_FLAG) !== 0,
    },
  };
}
