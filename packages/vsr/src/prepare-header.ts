import type { Prepare, PrepareFields } from "./prepare.ts";

/**
 * A prepare without its body: what a log is compared by.
 *
 * `checksum` covers everything else here except `replica` and `commit`, and the body through `bodyChecksum`.
 */
export interface PrepareHeader extends Omit<PrepareFields, "body"> {
  readonly checksum: bigint;
  readonly replica: number;
  readonly commit: number;
}

/** The header of `prepare`; a new object, so that no body is kept alive by it. */
export function headerOf(prepare: Prepare): PrepareHeader {
  const { body: _, ...header } = prepare;
  return header;
}
