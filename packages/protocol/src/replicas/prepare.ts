import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { type PrepareRecord, readPrepareRecord, writePrepareRecord } from "./prepare-record.ts";

/** An op to journal: its record, and its body as it goes into the journal. */
export interface PrepareMessage {
  readonly kind: "prepare";
  readonly view: number;
  /** The body is lent when it is sent, and a view of the frame when it came. */
  readonly prepare: PrepareRecord & { readonly body: Uint8Array };
}

/** Fields: a prepare record. Payload: the op's body. */
export const prepareCodec: FieldCodec<PrepareMessage> = {
  command: ReplicaCommand.prepare,
  write: (writer, { prepare }) => writePrepareRecord(writer, prepare),
  read: (reader, { view, payload }) => ({
    kind: "prepare",
    view,
    prepare: { ...readPrepareRecord(reader), body: payload },
  }),
  payloadOf: ({ prepare }) => prepare.body,
};
