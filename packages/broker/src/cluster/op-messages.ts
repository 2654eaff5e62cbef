import { CodedError, ErrorCode } from "@millrace/errors";
import { ByteReader, ByteWriter } from "@millrace/framing";
import { type ForwardedReplyMessage, type ForwardedRequestMessage, ForwardOutcome } from "@millrace/protocol";
import {
  ForwardedKind,
  type ForwardedOp,
  type ForwardedOpAnswer,
} from "../partition-plane/forwarding/forwarded-op.ts";
import { NUMBERED_SESSION } from "../partition-plane/partition-op.ts";

/** An answer with the number of the question. */
export interface SaidOfOp {
  readonly id: number;
  readonly answer: ForwardedOpAnswer;
}

const KINDS: ReadonlySet<number> = new Set(Object.values(ForwardedKind));
const NOTHING = new Uint8Array(0);
const NO_PLACE = { op: 0, commit: 0, timestamp: 0, operation: 0, body: NOTHING };

/** Bytes behind the reply to an operation that was committed: the base offset, u64. */
const PLACE_LENGTH = 8;
/** Code of a reply to what had been committed before. */
const REPEATED = 1;

/**
 * An operation on a partition as a forwarded request; the numbered ones have the session of a batch, or 1,
 * the others 0.
 */
export function forwardedOpMessage(replica: number, op: ForwardedOp): ForwardedRequestMessage {
  const { id: forward, view, kind: operation, client, request, user, isNumbered, body } = op;
  const session = isNumbered ? Math.max(NUMBERED_SESSION, op.session) : 0;
  const asked = { view, forward, client, session, request, operation, user, bodyChecksum: 0n, body };
  return { kind: "forwardedRequest", replica, ...asked };
}

/** The counterpart of `forwardedOpMessage`. @throws CodedError ReplicaFrameInvalid */
export function forwardedOpOf(message: ForwardedRequestMessage): ForwardedOp {
  const { forward: id, view, operation, client, request, user, session, body } = message;
  if (!KINDS.has(operation)) throw notUnderstood("operation");
  const kind = operation as ForwardedKind;
  return { id, view, kind, client, request, user, isNumbered: session > 0, session, body };
}

/** The answer to a forwarded operation. One that wrote nothing has no body. */
export function opAnswerMessage(replica: number, { id: forward, answer }: SaidOfOp): ForwardedReplyMessage {
  const head = { kind: "forwardedReply", replica, forward, ...NO_PLACE } as const;
  switch (answer.kind) {
    case "committed": {
      const { op, view, timestamp, baseOffset, isRepeated } = answer.result;
      const body = new ByteWriter(PLACE_LENGTH).u64(baseOffset).finish();
      const code = isRepeated ? REPEATED : 0;
      return { ...head, outcome: ForwardOutcome.replied, code, view, op, commit: op, timestamp, body };
    }
    case "nothing": {
      const { op, view } = answer;
      return { ...head, outcome: ForwardOutcome.replied, code: 0, view, op, commit: op };
    }
    case "refused":
      return { ...head, outcome: ForwardOutcome.rejected, code: answer.code, view: 0 };
  }
}

/** The counterpart of `opAnswerMessage`. @throws CodedError ReplicaFrameInvalid */
export function opAnswerOf(message: ForwardedReplyMessage): SaidOfOp {
  const { forward: id, outcome, code, op, view, timestamp, body } = message;
  if (outcome === ForwardOutcome.evicted) throw notUnderstood("outcome");
  if (outcome === ForwardOutcome.rejected) return { id, answer: { kind: "refused", code } };
  if (body.length === 0) return { id, answer: { kind: "nothing", op, view } };
  if (body.length !== PLACE_LENGTH) throw notUnderstood("body");
  const baseOffset = new ByteReader(body).u64Number();
  const isRepeated = code === REPEATED;
  return { id, answer: { kind: "committed", result: { op, view, baseOffset, timestamp, isRepeated } } };
}

function notUnderstood(reason: string): CodedError {
  const text = `A forwarded operation of another node has an unknown ${reason}.`;
  return new CodedError(ErrorCode.ReplicaFrameInvalid, text, { details: { reason } });
}
