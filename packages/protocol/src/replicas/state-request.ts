import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** The sender asks for the state of a group; the answer is a manifest, or an end that says why not. */
export interface StateRequestMessage {
  readonly kind: "stateRequest";
  readonly view: number;
  readonly replica: number;
  /** Chosen by the sender; every later message of this transfer has it. */
  readonly transfer: number;
  /** The state has to be as of this op or a later one. */
  readonly op: number;
}

/** Fields: transfer u32, op u64. */
export const stateRequestCodec: FieldCodec<StateRequestMessage> = {
  command: ReplicaCommand.stateRequest,
  write: (writer, { transfer, op }) => void writer.u32(transfer).u64(op),
  read: (reader, { view, replica }) => ({
    kind: "stateRequest",
    view,
    replica,
    transfer: reader.u32(),
    op: reader.u64Number(),
  }),
};
