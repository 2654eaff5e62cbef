import { decodeResultSection, hasResultSection } from "@millrace/protocol";

/** What a reply under an operation byte says: 0 for success, else the code in header or result section. */
export function outcomeOf(
  operation: number,
  reply: { readonly status: number | undefined; readonly body: readonly Uint8Array[] },
): number {
  const [first] = reply.body;
  if (reply.status !== undefined && reply.status !== 0) return reply.status;
  return first === undefined || !hasResultSection(operation) ? 0 : decodeResultSection(first).code;
}
