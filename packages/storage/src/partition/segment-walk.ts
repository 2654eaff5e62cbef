import {
  BATCH_HEADER_LENGTH,
  type BlockPool,
  baseOffsetAt,
  baseTimestampAt,
  batchLengthAt,
  type ChecksumKernel,
  type Lease,
  messageCountAt,
  partitionIdAt,
} from "@millrace/framing";
import type { DiskFile } from "@millrace/platform";
import type { BatchCipher } from "../encryption/batch-cipher.ts";
import { INDEX_SPACING, type IndexEntry, type SparseIndex } from "../index-file/sparse-index.ts";
import type { PartitionIdentity } from "../op-record/checkpoint.ts";
import { damaged } from "../recovery/damage.ts";
import { allocateWaiting } from "../recovery/pool-wait.ts";
import { readAt } from "../segment/file-calls.ts";
import type { Segment } from "../segment/segment.ts";
import type { ReadJob } from "./read-job.ts";

/**
 * Bytes read at once, unless one batch is longer: enough for the largest ordinary poll, little when most is
 * not wanted.
 */
const RUN_LENGTH_MAX = 4_194_304;

/** What a walk works on. */
export interface WalkSource {
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
  readonly identity: PartitionIdentity;
  readonly validateChecksums: boolean;
  readonly batchCipher: BatchCipher | undefined;
  readonly segment: Segment;
  readonly file: DiskFile;
}

/**
 * How a walk ended. `served`: something was added, or the reply is full. `lost`: the bytes at the place the
 * index named are not the batch that must be there. `no-block`: the pool is empty and the reply holds
 * something already.
 */
export type WalkOutcome = "served" | "lost" | "no-block";

/** Where a batch that could not be served lies. */
export interface LostAt {
  position: number;
}

/**
 * Adds batches of one segment to a reply, from the one that holds `job.next` on: one contiguous read into a
 * block, headers only up to the first wanted batch, every batch checked that is served.
 */
export async function walkSegment(
  source: WalkSource,
  job: ReadJob,
  index: SparseIndex,
  lostAt: LostAt,
): Promise<WalkOutcome> {
  const { segment } = source;
  let from = startFor(index, segment, job.next);
  let minimum = 0;
  for (;;) {
    const length = Math.max(minimum, runLength(index, segment, job, from.position));
    const lease = await leaseFor(source.pool, job, length);
    if (lease === undefined) return "no-block";
    try {
      const read = Math.min(length, segment.logLength - from.position);
      const available = await readAt(source.file, lease.bytes.subarray(0, read), from.position);
      const walked = walkRun(source, job, {
        lease,
        available,
        position: from.position,
        offset: from.offset,
        openedEnd: 0,
      });
      if (walked.kind === "done") return "served";
      lostAt.position = walked.position;
      if (walked.kind === "lost" || available < read) return "lost";
      if (walked.kind === "no-block") return job.count > 0 ? "no-block" : "served";
      from = { position: walked.position, offset: walked.offset };
      minimum = walked.needed;
    } finally {
      lease.release();
    }
  }
}

function startFor(index: SparseIndex, segment: Segment, offset: number): Omit<IndexEntry, "timestamp"> {
  return index.entry(index.atOffset(offset)) ?? { position: 0, offset: segment.firstOffset };
}

function runLength(index: SparseIndex, segment: Segment, job: ReadJob, position: number): number {
  const behind = index.entry(index.atOffset(job.next + job.countLeft - 1) + 1);
  const end = behind?.position ?? segment.logLength;
  const wanted = Math.min(end - position, RUN_LENGTH_MAX, INDEX_SPACING + job.lengthLeft);
  return Math.max(BATCH_HEADER_LENGTH, wanted);
}

/** Waits for a block only when the reply holds none: what is there already is served at once instead. */
async function leaseFor(pool: BlockPool, job: ReadJob, length: number): Promise<Lease | undefined> {
  return job.count > 0 ? pool.allocate(length) : await allocateWaiting(pool, length);
}

interface Run {
  readonly lease: Lease;
  readonly available: number;
  /** Place of the run in the file and the offset that must begin there. */
  readonly position: number;
  readonly offset: number;
  /** Where the next opened batch goes in memory: behind the last, so that neighbours stay neighbours. */
  openedEnd: number;
}

type Walked =
  | { readonly kind: "done" }
  | { readonly kind: "lost"; readonly position: number }
  | { readonly kind: "no-block"; readonly position: number }
  /** Nothing wanted was in the run, or the first wanted batch runs past it and needs `needed` bytes. */
  | { readonly kind: "further"; readonly position: number; readonly offset: number; readonly needed: number };

function walkRun(source: WalkSource, job: ReadJob, run: Run): Walked {
  const { segment } = source;
  let at = 0;
  let offset = run.offset;
  let served = false;
  while (!job.isComplete && run.position + at < segment.logLength) {
    const position = run.position + at;
    if (segment.logLength - position < BATCH_HEADER_LENGTH) return { kind: "lost", position };
    if (run.available - at < BATCH_HEADER_LENGTH) {
      return served ? { kind: "done" } : { kind: "further", position, offset, needed: BATCH_HEADER_LENGTH };
    }
    const batch = plausibleBatch(source, run.lease, { at, position, offset });
    if (batch === undefined) return served ? { kind: "done" } : { kind: "lost", position };
    if (offset + batch.count > job.next) {
      if (at + batch.length > run.available) {
        return served ? { kind: "done" } : { kind: "further", position, offset, needed: batch.length };
      }
      const outcome = serve(source, job, run, { ...batch, position: run.lease.position + at });
      if (outcome === "bad") return served ? { kind: "done" } : { kind: "lost", position };
      if (outcome === "no-block") return served ? { kind: "done" } : { kind: "no-block", position };
      served = true;
    }
    at += batch.length;
    offset += batch.count;
  }
  const isOver = served || job.isComplete;
  return isOver ? { kind: "done" } : { kind: "lost", position: run.position + at };
}

interface Seen {
  readonly length: number;
  readonly baseOffset: number;
  readonly count: number;
}

/** What the batch header at a place of the run says, when it can be the batch that must be there. */
function plausibleBatch(
  source: WalkSource,
  lease: Lease,
  place: { at: number; position: number; offset: number },
): Seen | undefined {
  const { view } = source.kernel.memory;
  const at = lease.position + place.at;
  const length = batchLengthAt(view, at);
  const count = messageCountAt(view, at);
  const fits = length > BATCH_HEADER_LENGTH && place.position + length <= source.segment.logLength;
  const isIt =
    partitionIdAt(view, at) === source.identity.partitionId && baseOffsetAt(view, at) === place.offset;
  const isInside = count > 0 && place.offset + count <= source.segment.endOffset;
  return fits && isIt && isInside ? { length, baseOffset: place.offset, count } : undefined;
}

/**
 * Checks a batch, opens it when it is encrypted, and adds it. A batch that is to be cut or opened is checked
 * whatever the settings: both walk it.
 */
function serve(
  source: WalkSource,
  job: ReadJob,
  run: Run,
  stored: Seen & { readonly position: number },
): "taken" | "bad" | "no-block" {
  const { kernel, batchCipher } = source;
  const mustCheck = source.validateChecksums || batchCipher !== undefined || !job.fitsWhole(stored);
  if (mustCheck && kernel.verifyBatch(stored.position, stored.length) !== undefined) return "bad";
  const batch = batchCipher === undefined ? stored : opened(source, batchCipher, run, stored);
  if (batch === undefined) return "bad";
  const outcome = job.take({ ...batch, lease: run.lease });
  return outcome === "no-block" ? "no-block" : "taken";
}

/** The batch as it was sent, in the place of the stored one; nothing when it does not open. */
function opened<Batch extends { readonly position: number; readonly length: number }>(
  { identity }: WalkSource,
  batchCipher: BatchCipher,
  run: Run,
  stored: Batch,
): Batch | undefined {
  const position = run.openedEnd === 0 ? stored.position : run.openedEnd;
  const length = batchCipher.open(identity, stored, position);
  if (length === undefined) return undefined;
  run.openedEnd = position + length;
  return { ...stored, position, length };
}

/**
 * Offset of the first message of a segment stamped at or after `timestamp`: looks through batch headers from
 * the last index entry before that time on. The end of the segment when all are earlier.
 * @throws CodedError `PartitionDamaged` when the headers there do not fit together
 */
export async function offsetAtTimestamp(
  source: WalkSource,
  index: SparseIndex,
  timestamp: number,
): Promise<number> {
  const { segment, kernel } = source;
  const start = index.entry(index.beforeTimestamp(timestamp));
  const end = segment.logLength;
  let { position, offset } = start ?? { position: 0, offset: segment.firstOffset };
  const lease = await allocateWaiting(source.pool, Math.min(source.pool.blockLength, RUN_LENGTH_MAX));
  try {
    while (position < end) {
      const available = await readAt(source.file, lease.bytes, position);
      let at = 0;
      while (available - at >= BATCH_HEADER_LENGTH && position + at < end) {
        const batch = plausibleBatch(source, lease, { at, position: position + at, offset });
        if (batch === undefined) throw headerDamage(source, position + at);
        const stamped = baseTimestampAt(kernel.memory.view, lease.position + at);
        const isLie = offset === start?.offset && stamped !== start.timestamp;
        if (isLie) throw headerDamage(source, position + at);
        if (stamped >= timestamp) return offset;
        at += batch.length;
        offset += batch.count;
      }
      if (at === 0) throw headerDamage(source, position);
      position += at;
    }
  } finally {
    lease.release();
  }
  return offset;
}

function headerDamage(source: WalkSource, position: number): Error {
  const { path } = source.file;
  return damaged(`A batch header in ${path} is damaged (position ${position}).`, { path, position });
}
