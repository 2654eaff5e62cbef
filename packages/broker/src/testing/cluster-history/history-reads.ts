import assert from "node:assert/strict";
import { ErrorCode } from "@millrace/errors";
import type { Answer } from "../test-client.ts";

/** What a node that is behind does not know yet, or what is gone. */
const UNKNOWN_CODES: ReadonlySet<number> = new Set([
  ErrorCode.StreamIdNotFound,
  ErrorCode.TopicIdNotFound,
  ErrorCode.PartitionNotFound,
  ErrorCode.ConsumerGroupIdNotFound,
]);

/** Why a read may be refused. */
export interface Excuses {
  /** What is read may be unknown where it is asked for. */
  readonly mayBeUnknown: boolean;
  /** A bit has changed on the disk of the node. */
  readonly isRotten: boolean;
  /** It stores an offset too, and whether that is committed may be unknown. */
  readonly mayCommit?: boolean;
  /** With `mayCommit`: the topic is deleted meanwhile, or may be, and takes no offset any more. */
  readonly mayBeGone?: boolean;
}

/**
 * What a read brought; nothing when the connection was lost or the node had a good reason to refuse it.
 *
 * @throws AssertionError for any other refusal
 */
export function payloadOf(
  answer: Answer | undefined,
  what: string,
  { mayBeUnknown, isRotten, mayCommit = false, mayBeGone = false }: Excuses,
): Uint8Array | undefined {
  if (answer === undefined) return undefined;
  const { code, payload } = answer;
  if (code === 0) return payload;
  const isExcused =
    code === ErrorCode.TransientNotAccepted ||
    (mayCommit && code === ErrorCode.TransientNotCommitted) ||
    (mayCommit && mayBeGone && code === ErrorCode.ResourceNotFound) ||
    (mayBeUnknown && UNKNOWN_CODES.has(code)) ||
    (isRotten && code === ErrorCode.PartitionDamaged);
  assert.ok(isExcused, `${what} is answered, not refused with ${code}`);
  return undefined;
}
