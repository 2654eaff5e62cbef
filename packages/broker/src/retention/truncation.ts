import type { RetentionFacts, SegmentSum } from "./retention-plan.ts";
import type { RetentionPolicy } from "./retention-policy.ts";

/** What went, and the oldest offset that is left. */
export interface Truncation extends SegmentSum {
  readonly firstOffset: number;
}

/** How a truncation ended. */
export interface TruncationOutcome {
  removed(truncation: Truncation): void;
  failed(code: number): void;
}

/** Which of the oldest sealed segments are to go: so many, or what a policy does not want any more. */
export type TruncationOrder =
  | { readonly kind: "count"; readonly segmentsCount: number }
  | { readonly kind: "policy"; readonly policy: RetentionPolicy };

/** What retention looks at, as of one moment. */
export interface RetentionLook {
  /** Why the partition takes no writes; 0 when it does. */
  readonly faultCode: number;
  /** Oldest retained offset; 0 when the partition is not open. */
  readonly firstOffset: number;
  /** Nothing when the partition is not open, or damage hides what is stored. */
  readonly facts: RetentionFacts | undefined;
}
