import type { Effect } from "./effect.ts";

/** One committed op of the metadata group. */
export interface CommittedOp {
  readonly op: number;
  readonly operation: number;
  /** Microseconds since the epoch: the primary's clock when it numbered the op. */
  readonly timestamp: number;
  readonly client: bigint;
  readonly user: number;
  /** Op of the Register that began the session it came in; 0 or absent for what came in none. */
  readonly session?: number;
  /** Layouts: docs/spec/metadata-operations.md. Borrowed for the call; what is kept is copied. */
  readonly body: Uint8Array;
}

/** What an op came to, the same on every replica. */
export interface ApplyResult {
  /** 0, or the error code the client gets in the result section; then nothing changed. */
  readonly code: number;
  /** Success payload, without the result section in front. */
  readonly body: Uint8Array;
  readonly effects: readonly Effect[];
}

const NO_BYTES = new Uint8Array(0);
const NO_EFFECTS: readonly Effect[] = [];

/** A success with what it answers and causes. */
export function success(effects: readonly Effect[] = NO_EFFECTS, body: Uint8Array = NO_BYTES): ApplyResult {
  return { code: 0, body, effects };
}

/** A committed op that changed nothing. */
export function rejection(code: number): ApplyResult {
  return { code, body: NO_BYTES, effects: NO_EFFECTS };
}
