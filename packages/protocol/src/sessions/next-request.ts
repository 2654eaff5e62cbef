const NAME = "next-request=";
/** A number that is given out is above 0, and a u64. */
const FORM = /^next-request=([1-9][0-9]{0,19})$/;
const REQUEST_MAX = 2n ** 64n - 1n;

/**
 * Login context of a client that numbers its writes: the next number that it has not given to any request
 * yet. What comes under a lower one in the new session may be a repetition.
 */
export function nextRequestContext(nextNumber: number): string {
  return `${NAME}${nextNumber}`;
}

/** The counterpart of `nextRequestContext`; nothing for a context that says anything else, or nothing. */
export function nextRequestOf(context: string): bigint | undefined {
  const digits = FORM.exec(context)?.[1];
  if (digits === undefined) return undefined;
  const next = BigInt(digits);
  return next <= REQUEST_MAX ? next : undefined;
}
