import { OPERATIONS, type OperationRow } from "./operation.table.ts";

const BY_BYTE: readonly (OperationRow | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  OPERATIONS.find((row) => row.byte === byte),
);

/** The row of an operation byte, or undefined when the byte is unknown. */
export function operationByByte(byte: number): OperationRow | undefined {
  return BY_BYTE[byte];
}

/**
 * True when the body of a reply starts with a result section.
 *
 * Decided by the byte in the reply, which may differ from the one that was asked for. A Register reply
 * without a body has none, and unknown bytes answer false: a client treats such a reply as error 3.
 */
export function hasResultSection(replyOperation: number): boolean {
  return BY_BYTE[replyOperation]?.resultSection ?? false;
}
