import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** The sender asks for the next bytes of a part. */
export interface StateChunkRequestMessage {
  readonly kind: "stateChunkRequest";
  readonly view: number;
  readonly replica: number;
  readonly transfer: number;
  /** Index in the manifest. */
  readonly part: number;
  readonly position: number;
}

/** Fields: transfer u32, part u32, position u64. */
export const stateChunkRequestCodec: FieldCodec<StateChunkRequestMessage> = {
  command: ReplicaCommand.stateChunkRequest,
  write: (writer, { transfer, part, position }) => void writer.u32(transfer).u32(part).u64(position),
  read: (reader, { view, replica }) => ({
    kind: "stateChunkRequest",
    view,
    replica,
    transfer: reader.u32(),
    part: reader.u32(),
    position: reader.u64Number(),
  }),
};
