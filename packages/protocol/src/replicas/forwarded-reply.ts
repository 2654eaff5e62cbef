import { ReplicaCommand, WireError } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** What became of a forwarded request. */
export const ForwardOutcome = { replied: 0, rejected: 1, evicted: 2 } as const;
/** Byte of an outcome. */
export type ForwardOutcome = (typeof ForwardOutcome)[keyof typeof ForwardOutcome];

/** The answer to a forwarded request. */
export interface ForwardedReplyMessage {
  readonly kind: "forwardedReply";
  /** In which the op was committed, or the sender's. */
  readonly view: number;
  readonly replica: number;
  readonly forward: number;
  readonly outcome: ForwardOutcome;
  /** 0 for a reply, the error code of a rejection, the reason of an eviction. */
  readonly code: number;
  /** These four of a reply; 0 otherwise. */
  readonly op: number;
  readonly commit: number;
  readonly timestamp: number;
  readonly operation: number;
  /** Lent when it is sent, a view of the frame when it came. */
  readonly body: Uint8Array;
}

/**
 * Fields: forward u64, op u64, commit u64, timestamp u64, code u32, outcome u8, operation u8. Payload: the
 * reply's body.
 */
export const forwardedReplyCodec: FieldCodec<ForwardedReplyMessage> = {
  command: ReplicaCommand.forwardedReply,
  write(writer, message) {
    writer.u64(message.forward).u64(message.op).u64(message.commit).u64(message.timestamp);
    writer.u32(message.code).u8(message.outcome).u8(message.operation);
  },
  read(reader, { view, replica, payload: body }) {
    const [forward, op, commit] = [reader.u64Number(), reader.u64Number(), reader.u64Number()];
    const [timestamp, code] = [reader.u64Number(), reader.u32()];
    const at = reader.position;
    const [outcome, operation] = [reader.u8() as ForwardOutcome, reader.u8()];
    if (outcome > ForwardOutcome.evicted) throw new WireError("unknown_kind", at);
    const answer = { forward, outcome, code, op, commit, timestamp, operation };
    return { kind: "forwardedReply", view, replica, ...answer, body };
  },
  payloadOf: ({ body }) => body,
};
