import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readFlag, writeFlag } from "./field-forms.ts";

/** The sender asks the primary for the log of the current view. */
export interface RequestStartViewMessage {
  readonly kind: "requestStartView";
  readonly view: number;
  readonly replica: number;
  readonly nonce: number;
  /** The sender lost its superblock and asks everybody for the view in theirs. */
  readonly wantsViews: boolean;
}

/** Fields: nonce u64, below 2^53, wants views u8. */
export const requestStartViewCodec: FieldCodec<RequestStartViewMessage> = {
  command: ReplicaCommand.requestStartView,
  write: (writer, { nonce, wantsViews }) => writeFlag(writer.u64(nonce), wantsViews),
  read: (reader, { view, replica }) => ({
    kind: "requestStartView",
    view,
    replica,
    nonce: reader.u64Number(),
    wantsViews: readFlag(reader),
  }),
};
