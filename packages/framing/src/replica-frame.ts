import { ByteReader } from "./byte-reader.ts";
import { COMMON_AT, HEADER_LENGTH, headerViewAt } from "./header-kind.ts";
import { setU64Number, setU128, u64NumberAt, u128At } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/**
 * The kinds of frame between replicas, the byte at 60. None is a value of `WireCommand`, so a client's
 * frame on a replica's port is known by its first header, and the other way round.
 */
export const ReplicaCommand = {
  ping: 1,
  prepare: 6,
  prepareOk: 7,
  commit: 9,
  startViewChange: 10,
  doViewChange: 11,
  startView: 12,
  requestStartView: 14,
  requestPrepare: 15,
  prepareGone: 16,
  viewNumber: 17,
  hello: 18,
  challenge: 19,
  finish: 20,
  stateRequest: 21,
  stateManifest: 22,
  stateChunkRequest: 23,
  stateChunk: 24,
  stateEnd: 25,
  forwardedRequest: 26,
  forwardedReply: 27,
  formation: 28,
  vouch: 29,
  standingsRequest: 30,
  standingsReply: 31,
  askToLead: 32,
  commits: 33,
} as const;
/** Byte of a kind of frame. */
export type ReplicaCommand = (typeof ReplicaCommand)[keyof typeof ReplicaCommand];

const COMMANDS: ReadonlySet<number> = new Set(Object.values(ReplicaCommand));

/** Version of these frames, in the field that clients call release. Another one is refused. */
const FORMAT = 1;

/** Places of a replica frame's own fields, see docs/spec/replica-messages.md. */
const AT = {
  checksum: 0,
  payloadChecksum: 16,
  reserved: 62,
  streamId: 128,
  topicId: 132,
  partitionId: 136,
  groupKind: 140,
  groupPadding: 141,
  revision: 144,
  payloadLength: 152,
  padding: 156,
  fields: 160,
} as const;

const GroupKind = { none: 0, metadata: 1, partition: 2 } as const;

/** A partition of one life: one that is deleted and made again has another revision. */
export interface PartitionAddress {
  readonly streamId: number;
  readonly topicId: number;
  readonly partitionId: number;
  /** Op that made the partition. */
  readonly revision: number;
}

/** The consensus group a frame is for. */
export type GroupAddress =
  | { readonly kind: "metadata" }
  | { readonly kind: "partition"; readonly partition: PartitionAddress };

/** What a frame between replicas says. */
export interface ReplicaFrame {
  readonly command: ReplicaCommand;
  /** Which cluster both belong to, u128. */
  readonly cluster: bigint;
  /** The sender's view in `group`, u32; 0 where there is none. */
  readonly view: number;
  /** Who sends it. */
  readonly replica: number;
  readonly group?: GroupAddress | undefined;
  /** The command's own fields; up to 96 bytes of them lie in the header. */
  readonly fields: Uint8Array;
  /** Bytes that nobody between the two ends looks into. */
  readonly payload: Uint8Array;
}

/**
 * A frame that was opened. Its fields may be longer than what was sealed, by zeros up to the header's end.
 */
export interface OpenedFrame extends ReplicaFrame {
  /** Where the payload begins, in bytes from the frame's first. */
  readonly payloadPosition: number;
}

/** XXH3-64 of any bytes: a `ChecksumKernel`. */
export interface FrameHash {
  hashBytes(bytes: Uint8Array): bigint;
}

/**
 * The frame as parts, head and payload, sealed; the payload is not copied and has to stay as it is.
 *
 * The head is the header and those fields that it has no room for. Its checksum covers all of it and, by the
 * payload's checksum that stands in it, the payload.
 *
 * @throws WireError `bad_value` for a view, replica or id that its field cannot hold; `bad_length` beyond u32
 */
export function sealReplicaFrame(hash: FrameHash, frame: ReplicaFrame): readonly Uint8Array[] {
  const { fields, payload } = frame;
  const head = new Uint8Array(Math.max(HEADER_LENGTH, AT.fields + fields.length));
  const view = new DataView(head.buffer);
  const length = head.length + payload.length;
  if (length > 0xffff_ffff) throw new WireError("bad_length", COMMON_AT.length);
  setU128(view, AT.payloadChecksum, sumOf(hash, payload));
  setU128(view, COMMON_AT.cluster, frame.cluster);
  view.setUint32(COMMON_AT.length, length, true);
  setU32(view, COMMON_AT.view, frame.view);
  view.setUint32(COMMON_AT.release, FORMAT, true);
  view.setUint8(COMMON_AT.command, frame.command);
  if (!(frame.replica >= 0 && frame.replica <= 0xff)) throw new WireError("bad_value", COMMON_AT.replica);
  view.setUint8(COMMON_AT.replica, frame.replica);
  if (frame.group !== undefined) writeGroup(view, frame.group);
  view.setUint32(AT.payloadLength, payload.length, true);
  head.set(fields, AT.fields);
  view.setBigUint64(AT.checksum, hash.hashBytes(head.subarray(AT.payloadChecksum)), true);
  return payload.length === 0 ? [head] : [head, payload];
}

/**
 * Checks the frame that fills `bytes` and takes it apart. Fields and payload are views of `bytes`.
 *
 * @throws WireError `bad_length` when `bytes` are not the whole frame; `bad_seal` when they are not those
 *         that were sealed; `unknown_kind` for a command or group that is none, or another version of the
 *         format; `reserved_not_zero`; `bad_value`
 */
export function openReplicaFrame(hash: FrameHash, bytes: Uint8Array): OpenedFrame {
  const view = headerViewAt(bytes, 0);
  if (view.getUint32(COMMON_AT.length, true) !== bytes.length) {
    throw new WireError("bad_length", COMMON_AT.length);
  }
  const payloadLength = view.getUint32(AT.payloadLength, true);
  if (payloadLength > bytes.length - HEADER_LENGTH) throw new WireError("bad_length", AT.payloadLength);
  const payloadPosition = bytes.length - payloadLength;
  const command = view.getUint8(COMMON_AT.command);
  if (!COMMANDS.has(command)) throw new WireError("unknown_kind", COMMON_AT.command);
  if (view.getUint32(COMMON_AT.release, true) !== FORMAT) {
    throw new WireError("unknown_kind", COMMON_AT.release);
  }
  const payload = bytes.subarray(payloadPosition);
  checkSeal(hash, bytes.subarray(0, payloadPosition), payload, view);
  checkZero(bytes, AT.reserved, AT.streamId);
  checkZero(bytes, AT.padding, AT.fields);
  return {
    command: command as ReplicaCommand,
    cluster: u128At(view, COMMON_AT.cluster),
    view: view.getUint32(COMMON_AT.view, true),
    replica: view.getUint8(COMMON_AT.replica),
    group: readGroup(view, bytes),
    fields: bytes.subarray(AT.fields, payloadPosition),
    payload,
    payloadPosition,
  };
}

/**
 * What `read` finds in the fields of an opened frame, which it has to read to their end: only zeros up to the
 * header's end may follow.
 *
 * @throws WireError `unexpected_end`; `trailing_bytes` when something else follows. Positions count from the
 *   first field.
 */
export function readFrameFields<T>({ fields }: OpenedFrame, read: (reader: ByteReader) => T): T {
  const reader = new ByteReader(fields);
  const value = read(reader);
  const isInHeader = fields.length === HEADER_LENGTH - AT.fields;
  for (let at = reader.position; at < fields.length; at++) {
    if (!isInHeader || fields[at] !== 0) throw new WireError("trailing_bytes", at);
  }
  return value;
}

function checkSeal(hash: FrameHash, head: Uint8Array, payload: Uint8Array, view: DataView): void {
  const expected = hash.hashBytes(head.subarray(AT.payloadChecksum));
  if (u128At(view, AT.checksum) !== expected) throw new WireError("bad_seal", AT.checksum);
  if (u128At(view, AT.payloadChecksum) !== sumOf(hash, payload)) {
    throw new WireError("bad_seal", AT.payloadChecksum);
  }
}

/** Most frames have no payload; theirs is 0. */
function sumOf(hash: FrameHash, payload: Uint8Array): bigint {
  return payload.length === 0 ? 0n : hash.hashBytes(payload);
}

function writeGroup(view: DataView, group: GroupAddress): void {
  view.setUint8(AT.groupKind, GroupKind[group.kind]);
  if (group.kind === "metadata") return;
  const { streamId, topicId, partitionId, revision } = group.partition;
  setU32(view, AT.streamId, streamId);
  setU32(view, AT.topicId, topicId);
  setU32(view, AT.partitionId, partitionId);
  setU64Number(view, AT.revision, revision);
}

/** Where a group has no partition, what would name one is zero. */
function readGroup(view: DataView, bytes: Uint8Array): GroupAddress | undefined {
  const kind = view.getUint8(AT.groupKind);
  if (kind > GroupKind.partition) throw new WireError("unknown_kind", AT.groupKind);
  checkZero(bytes, AT.groupPadding, AT.revision);
  if (kind === GroupKind.partition) return { kind: "partition", partition: readPartition(view) };
  checkZero(bytes, AT.streamId, AT.groupKind);
  checkZero(bytes, AT.revision, AT.payloadLength);
  return kind === GroupKind.metadata ? { kind: "metadata" } : undefined;
}

function readPartition(view: DataView): PartitionAddress {
  const revision = u64NumberAt(view, AT.revision);
  if (revision > Number.MAX_SAFE_INTEGER) throw new WireError("bad_value", AT.revision);
  return {
    streamId: view.getUint32(AT.streamId, true),
    topicId: view.getUint32(AT.topicId, true),
    partitionId: view.getUint32(AT.partitionId, true),
    revision,
  };
}

function setU32(view: DataView, at: number, value: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff)) throw new WireError("bad_value", at);
  view.setUint32(at, value, true);
}

function checkZero(bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; at++) if (bytes[at] !== 0) throw new WireError("reserved_not_zero", at);
}
