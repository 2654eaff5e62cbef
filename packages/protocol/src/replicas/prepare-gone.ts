import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** An op that was asked for is no longer in the sender's journal. */
export interface PrepareGoneMessage {
  readonly kind: "prepareGone";
  readonly view: number;
  readonly replica: number;
  readonly op: number;
}

/** Fields: op u64. */
export const prepareGoneCodec: FieldCodec<PrepareGoneMessage> = {
  command: ReplicaCommand.prepareGone,
  write: (writer, { op }) => void writer.u64(op),
  read: (reader, { view, replica }) => ({ kind: "prepareGone", view, replica, op: reader.u64Number() }),
};
