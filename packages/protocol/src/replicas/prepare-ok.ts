import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** An op is in the sender's journal. */
export interface PrepareOkMessage {
  readonly kind: "prepareOk";
  readonly view: number;
  readonly op: number;
  readonly prepareChecksum: bigint;
  readonly replica: number;
}

/** Fields: op u64, checksum of the prepare u128. */
export const prepareOkCodec: FieldCodec<PrepareOkMessage> = {
  command: ReplicaCommand.prepareOk,
  write: (writer, { op, prepareChecksum }) => void writer.u64(op).u128(prepareChecksum),
  read: (reader, { view, replica }) => ({
    kind: "prepareOk",
    view,
    op: reader.u64Number(),
    prepareChecksum: reader.u128(),
    replica,
  }),
};
