/** How far a segment is checked: bytes of each file. */
export interface SegmentPlace {
  opsPosition: number;
  logPosition: number;
}

/** Where a verification goes on: the segment by its first offset, and bytes of its files. */
export interface VerifyCursor extends Readonly<SegmentPlace> {
  readonly segment: number;
}

/** The place before everything. */
export const VERIFY_FROM_START: VerifyCursor = { segment: 0, opsPosition: 0, logPosition: 0 };
