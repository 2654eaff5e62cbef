import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** The sender asks for an op again. */
export interface RequestPrepareMessage {
  readonly kind: "requestPrepare";
  readonly view: number;
  readonly replica: number;
  readonly op: number;
  /** 0 takes the one that belongs to the log of `view`. */
  readonly prepareChecksum: bigint;
}

/** Fields: op u64, checksum of the prepare u128. */
export const requestPrepareCodec: FieldCodec<RequestPrepareMessage> = {
  command: ReplicaCommand.requestPrepare,
  write: (writer, { op, prepareChecksum }) => void writer.u64(op).u128(prepareChecksum),
  read: (reader, { view, replica }) => ({
    kind: "requestPrepare",
    view,
    replica,
    op: reader.u64Number(),
    prepareChecksum: reader.u128(),
  }),
};
