/** The three files of a segment. */
export type SegmentFileKind = "log" | "ops" | "index";

/** What a segment's file name says. */
export interface SegmentName {
  /** Purge generation the segment belongs to; 0 until the first purge. */
  readonly generation: number;
  /** Offset of the first message the segment may hold. */
  readonly firstOffset: number;
}

const OFFSET_DIGITS = 20;
const NAME_PATTERN = /^(\d{20})(?:\.g(\d{1,15}))?\.(log|ops|index)$/;

/**
 * File name of a segment: 20 digits of its first offset, `.g` and the purge generation when that is not 0,
 * the kind.
 *
 * The generation is part of the name because a purge starts again at offset 0 while the files of the
 * generation before are still there.
 */
export function segmentFileName(name: SegmentName, kind: SegmentFileKind): string {
  const digits = String(name.firstOffset).padStart(OFFSET_DIGITS, "0");
  const generation = name.generation === 0 ? "" : `.g${name.generation}`;
  return `${digits}${generation}.${kind}`;
}

/** What `fileName` names, or nothing when it is not the name of a segment's file exactly as we write it. */
export function parseSegmentFileName(
  fileName: string,
): (SegmentName & { readonly kind: SegmentFileKind }) | undefined {
  const match = NAME_PATTERN.exec(fileName);
  if (match === null) return undefined;
  const parsed = {
    firstOffset: Number(match[1]),
    generation: Number(match[2] ?? "0"),
    kind: match[3] as SegmentFileKind,
  };
  if (!Number.isSafeInteger(parsed.firstOffset)) return undefined;
  return segmentFileName(parsed, parsed.kind) === fileName ? parsed : undefined;
}

/** Orders segments as they were written: by generation, then by first offset. */
export function compareSegmentNames(a: SegmentName, b: SegmentName): number {
  return a.generation - b.generation || a.firstOffset - b.firstOffset;
}
