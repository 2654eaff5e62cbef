import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** Answer to a replica that lost its superblock. */
export interface ViewNumberMessage {
  readonly kind: "viewNumber";
  readonly view: number;
  readonly replica: number;
  readonly nonce: number;
}

/** Fields: nonce u64, below 2^53. */
export const viewNumberCodec: FieldCodec<ViewNumberMessage> = {
  command: ReplicaCommand.viewNumber,
  write: (writer, { nonce }) => void writer.u64(nonce),
  read: (reader, { view, replica }) => ({ kind: "viewNumber", view, replica, nonce: reader.u64Number() }),
};
