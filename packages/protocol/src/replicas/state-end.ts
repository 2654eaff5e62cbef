import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** Either side: this transfer is over. */
export interface StateEndMessage {
  readonly kind: "stateEnd";
  readonly view: number;
  readonly replica: number;
  readonly transfer: number;
  /** 0 when everything was fetched; otherwise the error code that says why it ends. */
  readonly code: number;
}

/** Fields: transfer u32, code u32. */
export const stateEndCodec: FieldCodec<StateEndMessage> = {
  command: ReplicaCommand.stateEnd,
  write: (writer, { transfer, code }) => void writer.u32(transfer).u32(code),
  read: (reader, { view, replica }) => ({
    kind: "stateEnd",
    view,
    replica,
    transfer: reader.u32(),
    code: reader.u32(),
  }),
};
