import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** A backup asks the primary of its view to let it lead. */
export interface AskToLeadMessage {
  readonly kind: "askToLead";
  readonly view: number;
  readonly replica: number;
  /** End of its log. */
  readonly op: number;
}

/** Fields: op u64. */
export const askToLeadCodec: FieldCodec<AskToLeadMessage> = {
  command: ReplicaCommand.askToLead,
  write: (writer, { op }) => void writer.u64(op),
  read: (reader, { view, replica }) => ({ kind: "askToLead", view, replica, op: reader.u64Number() }),
};
