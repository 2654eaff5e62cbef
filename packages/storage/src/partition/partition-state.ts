import type { CodedError } from "@millrace/errors";
import type { Log } from "@millrace/platform";
import { lastWhere } from "../index-file/sparse-index.ts";
import type { Checkpoint, PartitionIdentity } from "../op-record/checkpoint.ts";
import type { ClientsRequest } from "../requests/remembered-request.ts";
import { RequestMemory } from "../requests/request-memory.ts";
import type { Segment } from "../segment/segment.ts";
import {
  compareSegmentNames,
  type SegmentFileKind,
  type SegmentName,
  segmentFileName,
} from "../segment/segment-name.ts";
import { ConsumerOffsets } from "./consumer-offsets.ts";
import type { OpEntry } from "./op-entry.ts";
import type { PartitionOptions } from "./partition-options.ts";
import { UncommittedOps } from "./uncommitted-ops.ts";

/** What a state is made from, see `PartitionOptions`. */
export type StateOptions = Pick<
  PartitionOptions,
  "path" | "identity" | "log" | "requestClientsMax" | "batchCipher"
>;

/** The last op of some stage and what follows from it. */
export interface Position {
  op: number;
  opChecksum: bigint;
  view: number;
  timestamp: number;
  nextOffset: number;
  generation: number;
}

/** An op has reached the stage. */
export function moveTo(position: Position, { header, endOffset, generation }: OpEntry): void {
  position.op = header.op;
  position.opChecksum = header.checksum;
  position.view = header.view;
  position.timestamp = header.timestamp;
  position.nextOffset = endOffset;
  position.generation = generation;
}

/** Segments that the state no longer lists; their files go once `op` is committed. */
export interface LeftBehind {
  readonly op: number;
  readonly segments: readonly Segment[];
}

/**
 * What a partition knows, in three stages that follow each other: `accepted` (handed in), `journaled` (on
 * disk), committed (visible). Writer, reader and commits share it; each field has one of them as its only
 * writer.
 */
export class PartitionState {
  readonly path: string;
  readonly identity: PartitionIdentity;
  readonly log: Log;
  /** All segments that exist, in the order of their names; the last is active. */
  segments: Segment[] = [];
  /** In the order of their ops: a cut may bring them back, and their ops may be asked for, until then. */
  leftBehind: LeftBehind[] = [];
  accepted: Position = startPosition();
  journaled: Position = startPosition();
  committedOp = 0;
  /** The op at which the checkpoint stands that recovery began with; 0 for none. */
  adoptedOp = 0;
  committedNextOffset = 0;
  /** Generation readers see; the accepted one is ahead of it between a purge and its commit. */
  visibleGeneration = 0;
  readonly offsets = new ConsumerOffsets();
  /** Requests of committed ops, by which a repetition is known. */
  readonly requests: RequestMemory;
  /** Batches are stored encrypted. */
  readonly isEncrypted: boolean;
  readonly uncommitted = new UncommittedOps();
  fault: CodedError | undefined;
  /** Why nobody can tell what offsets are stored; only with a `fault`. */
  offsetsFault: CodedError | undefined;
  /** Nobody can tell which offsets were given out; only with a `fault`. */
  isEndUnknown = false;

  constructor({ path, identity, log, requestClientsMax, batchCipher }: StateOptions) {
    this.path = path;
    this.identity = identity;
    this.log = log;
    this.requests = new RequestMemory(requestClientsMax);
    this.isEncrypted = batchCipher !== undefined;
  }

  /** Every segment whose files are kept, in the order of their ops. */
  get kept(): readonly Segment[] {
    const { segments, leftBehind } = this;
    if (leftBehind.length === 0) return segments;
    const older = leftBehind.flatMap((some) => some.segments);
    return [...older, ...segments].sort(compareSegmentNames);
  }

  get active(): Segment | undefined {
    return this.segments[this.segments.length - 1];
  }

  /** Segments readers see, oldest first. */
  get visible(): readonly Segment[] {
    const { segments, visibleGeneration } = this;
    const mixed =
      segments[0]?.generation !== visibleGeneration || this.active?.generation !== visibleGeneration;
    return mixed ? segments.filter((segment) => segment.generation === visibleGeneration) : segments;
  }

  /** Oldest retained offset; the next one when the partition is empty. */
  get firstOffset(): number {
    return this.visible[0]?.firstOffset ?? 0;
  }

  filePath(name: SegmentName, kind: SegmentFileKind): string {
    return `${this.path}/${segmentFileName(name, kind)}`;
  }

  /**
   * The visible segment that holds `offset`, else the next one behind it that holds any: damage may have kept
   * one without messages between others.
   */
  segmentAt(offset: number): Segment | undefined {
    const { visible } = this;
    let index = lastWhere(visible.length, (one) => (visible[one]?.endOffset ?? 0) <= offset) + 1;
    while (visible[index]?.isEmpty === true) index += 1;
    return visible[index];
  }

  /** The state after every journaled op, as the next `.ops` file begins with it. */
  checkpoint(active: Segment, closing: boolean): Checkpoint {
    const { journaled, identity } = this;
    const mark = this.#truncationMark();
    return {
      op: journaled.op,
      opChecksum: journaled.opChecksum,
      view: journaled.view,
      timestamp: journaled.timestamp,
      commit: Math.min(this.committedOp, journaled.op),
      closing,
      identity,
      generation: journaled.generation,
      nextOffset: Math.max(journaled.nextOffset, active.firstOffset),
      committedNextOffset: this.#committedNextOffset(),
      sealed: this.segments
        .filter((segment) => segment !== active && segment.generation === active.generation)
        .filter((segment) => !segment.isEmpty && segment.endOffset > mark)
        .map((segment) => segment.row()),
      active: active.row(),
      offsets: [...this.offsetsAfter(journaled.op).all()],
      requests: this.#journaledRequests(),
    };
  }

  /** True for a segment that goes once the journaled ops are committed: a truncation or purge covers it. */
  isTakenAway(segment: Segment): boolean {
    if (segment.generation < this.journaled.generation) return true;
    return segment !== this.active && segment.endOffset <= this.#truncationMark();
  }

  /** Stored offsets as they are once everything up to `op` is committed. */
  offsetsAfter(op: number): ConsumerOffsets {
    const offsets = this.offsets.clone();
    for (const entry of this.uncommitted.upTo(op)) {
      if (entry.small !== undefined) applyToOffsets(offsets, entry.small.operation);
    }
    return offsets;
  }

  /** What is stored for a key after every accepted op, committed or not. */
  acceptedOffset(kind: 1 | 2, id: number): number | undefined {
    for (const { small } of this.uncommitted.newestFirst()) {
      const operation = small?.operation;
      if (operation?.kind === "purge") return undefined;
      const isOffset = operation?.kind === "store-offset" || operation?.kind === "delete-offset";
      if (!isOffset || operation.consumerKind !== kind || operation.id !== id) continue;
      return operation.kind === "store-offset" ? operation.offset : undefined;
    }
    return this.offsets.get(kind, id);
  }

  /** A purge that is journaled but not committed leaves nothing committed in its generation. */
  #committedNextOffset(): number {
    return this.journaled.generation === this.visibleGeneration ? this.committedNextOffset : 0;
  }

  /** Segments that end at or below this go away with journaled ops that are not committed yet. */
  #truncationMark(): number {
    let mark = 0;
    for (const { small } of this.uncommitted.upTo(this.journaled.op)) {
      if (small?.operation.kind === "purge") mark = 0;
      if (small?.operation.kind === "truncate") mark = Math.max(mark, small.operation.upToOffset);
    }
    return mark;
  }

  #journaledRequests(): ClientsRequest[] {
    const requests = [...this.requests.all()];
    for (const { header, request } of this.uncommitted.upTo(this.journaled.op)) {
      if (request !== undefined) requests.push({ client: header.client, user: header.user, request });
    }
    return requests;
  }
}

/** What a small op does to stored offsets. */
export function applyToOffsets(
  offsets: ConsumerOffsets,
  operation: NonNullable<OpEntry["small"]>["operation"],
): void {
  if (operation.kind === "store-offset") offsets.set(operation.consumerKind, operation.id, operation.offset);
  else if (operation.kind === "delete-offset") offsets.delete(operation.consumerKind, operation.id);
  else if (operation.kind === "purge") offsets.clear();
}

function startPosition(): Position {
  return { op: 0, opChecksum: 0n, view: 0, timestamp: 0, nextOffset: 0, generation: 0 };
}
