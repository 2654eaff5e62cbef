import type { RetentionFacts, SegmentSum } from "./retention-plan.ts";
import type { RetentionPolicy } from "./retention-policy.ts";

/** What went, and the oldest offset that is left. */
export interface Truncation extends SegmentSum {
  readonly firstOffset: number;
}

/** Nothing went, or not here. */
export const NOTHING_REMOVED: Truncation = {
  segmentsCount: 0,
  messagesCount: 0,
  byteLength: 0,
  firstOffset: 0,
};

/** How a truncation ended. */
export interface TruncationOutcome {
  removed(truncation: Truncation): void;
  failed(code: number): void;
}

/** So many of the oldest sealed segments are to go, because the metadata group has decided it. */
export interface CountOrder {
  readonly kind: "count";
  readonly segmentsCount: number;
  /** Op of the decision: asked for again under the same one, nothing more goes. */
  readonly decidedAt: number;
}

/** Which of the oldest sealed segments are to go: so many, or what a policy does not want any more. */
export type TruncationOrder = CountOrder | { readonly kind: "policy"; readonly policy: RetentionPolicy };

/** What retention looks at, as of one moment. */
export interface RetentionLook {
  /** Why the partition takes no writes; 0 when it does. */
  readonly faultCode: number;
  /** Oldest retained offset; 0 when the partition is not open. */
  readonly firstOffset: number;
  /** Nothing when the partition is not open, or damage hides what is stored. */
  readonly facts: RetentionFacts | undefined;
}
