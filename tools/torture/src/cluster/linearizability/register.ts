import { isLinearizable, type Model, type TimedOperation } from "./linearizable.ts";

/** What is done to a register. Every value is written once, and none is 0, which it begins with. */
export type RegisterAction =
  | { readonly kind: "write"; readonly value: number }
  /** It found this value. A read whose answer was lost says nothing and has no place in a history. */
  | { readonly kind: "read"; readonly value: number };

/** An operation on a register. */
export type RegisterOperation = TimedOperation<RegisterAction>;

const REGISTER: Model<number, RegisterAction> = {
  initial: 0,
  step: (state, { kind, value }) => (kind === "write" || state === value ? value : undefined),
  keyOf: (state) => String(state),
};

/** True when a register that does one thing at a time could have given these answers. */
export function isRegisterHistory(operations: readonly RegisterOperation[]): boolean {
  return isLinearizable(withoutOpenEnds(operations), REGISTER);
}

/**
 * Writes with an unknown outcome stay open for ever and would each double the search. One that nobody ever
 * read need not have happened; one that was read had happened when the first of these reads was answered.
 * Neither changes what is possible.
 */
function withoutOpenEnds(operations: readonly RegisterOperation[]): RegisterOperation[] {
  const firstReadMs = new Map<number, number>();
  for (const { action, returnMs } of operations) {
    if (action.kind !== "read") continue;
    firstReadMs.set(action.value, Math.min(returnMs, firstReadMs.get(action.value) ?? returnMs));
  }
  const closed = operations.flatMap((operation) => {
    const { action, returnMs } = operation;
    if (action.kind === "read" || returnMs < Number.POSITIVE_INFINITY) return [operation];
    const readMs = firstReadMs.get(action.value);
    return readMs === undefined ? [] : [{ ...operation, returnMs: Math.max(readMs, operation.callMs) }];
  });
  return closed.sort((one, other) => one.callMs - other.callMs);
}
