import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** The sender asks the primary for the log of the current view. */
export interface RequestStartViewMessage {
  readonly kind: "requestStartView";
  readonly view: number;
  readonly replica: number;
  readonly nonce: number;
}

/** Fields: nonce u64, below 2^53. */
export const requestStartViewCodec: FieldCodec<RequestStartViewMessage> = {
  command: ReplicaCommand.requestStartView,
  write: (writer, { nonce }) => void writer.u64(nonce),
  read: (reader, { view, replica }) => ({
    kind: "requestStartView",
    view,
    replica,
    nonce: reader.u64Number(),
  }),
};
