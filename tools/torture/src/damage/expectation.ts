import { basename, extname } from "node:path";
import type { SentBatch } from "../oracle/sent-batches.ts";
import type { Damage } from "./damage.ts";
import type { SegmentContent } from "./segment-content.ts";

/** Bytes of a record without a body: no batch has a shorter one. */
const RECORD_LENGTH = 128;

/** What a damage may cost. Everything else is there as before. */
export interface Expectation {
  /** Batches that may be answered with `PartitionDamaged`. */
  readonly mayRefuse: ReadonlySet<SentBatch>;
  readonly refusedMax: number;
  /** Batches at the end that may be gone, if the log tells that a tail was cut. */
  readonly mayLose: ReadonlySet<SentBatch>;
  /** Whether the start may be refused, naming the file. */
  readonly mayRefuseStart: boolean;
  /** Whether stored offsets may be answered with `PartitionDamaged`, or go back with a tail that was cut. */
  readonly mayDoubtOffsets: boolean;
}

const NOTHING: Expectation = {
  mayRefuse: new Set(),
  refusedMax: 0,
  mayLose: new Set(),
  mayRefuseStart: false,
  mayDoubtOffsets: false,
};

/** A change of the metadata costs nothing, or refuses the start. */
export function expectOfMetadata(): Expectation {
  return { ...NOTHING, mayRefuseStart: true };
}

/** What a change of a segment's file may cost, by what lies in that segment. */
export function expectOfSegment(damage: Damage, segments: readonly SegmentContent[]): Expectation {
  const file = basename(damage.path);
  const ending = extname(file);
  const segment = segments.find(({ name }) => name === file.slice(0, -ending.length));
  // Files of a segment that a purge has left behind, and indexes, which are hints.
  if (segment === undefined || ending === ".index") return NOTHING;
  return ending === ".log" ? expectOfLog(damage, segment) : expectOfOps(damage, segment);
}

/**
 * Batches whose bytes are hit may not be read any more; the last one of all, or a cut end, may pass for torn.
 */
function expectOfLog({ change }: Damage, { batches, isActive }: SegmentContent): Expectation {
  const isHit = ({ batch, position }: SegmentContent["batches"][number]) => {
    const end = position + batch.length;
    if (change.kind === "flip") return position <= change.position && change.position < end;
    return end > (change.kind === "cut" ? change.length : 0);
  };
  const hit = batches.filter(isHit).map(({ batch }) => batch);
  const isAtEnd = isActive && hit.at(-1) === batches.at(-1)?.batch;
  return {
    ...NOTHING,
    mayRefuse: new Set(hit),
    refusedMax: hit.length,
    mayLose: new Set(isAtEnd ? hit : []),
    // Ops behind a batch that is gone are gone with it.
    mayDoubtOffsets: isActive,
  };
}

/** Sealed records are not needed to read; of active ones each that is hit may cost its batch. */
function expectOfOps({ change, fileLength }: Damage, { batches, isActive }: SegmentContent): Expectation {
  if (!isActive) return NOTHING;
  const all = batches.map(({ batch }) => batch);
  const hitMax = change.kind === "cut" ? Math.ceil((fileLength - change.length) / RECORD_LENGTH) : 1;
  const isGone = change.kind === "remove" || (change.kind === "cut" && change.length === 0);
  return {
    ...NOTHING,
    mayRefuse: new Set(all),
    refusedMax: isGone ? all.length : hitMax,
    mayLose: new Set(isGone ? [] : all.slice(-hitMax)),
    mayDoubtOffsets: true,
  };
}
