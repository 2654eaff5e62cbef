import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readFlag, writeFlag } from "./field-forms.ts";
import { type PrepareRecord, readPrepareRecords, writePrepareRecords } from "./prepare-record.ts";

/** The end of the sender's log, for the primary of a view that is to begin. */
export interface DoViewChangeMessage {
  readonly kind: "doViewChange";
  readonly view: number;
  readonly replica: number;
  readonly logView: number;
  readonly op: number;
  readonly commit: number;
  readonly commitChecksum: bigint;
  /** Ops `commit + 1` to `op`. */
  readonly headers: readonly PrepareRecord[];
  /** The sender gives no nacks. */
  readonly mayHaveLost: boolean;
}

/** Fields: log view u32, op u64, commit u64, its checksum u128, may have lost u8, then the records. */
export const doViewChangeCodec: FieldCodec<DoViewChangeMessage> = {
  command: ReplicaCommand.doViewChange,
  write(writer, message) {
    writer.u32(message.logView).u64(message.op).u64(message.commit).u128(message.commitChecksum);
    writeFlag(writer, message.mayHaveLost);
    writePrepareRecords(writer, message.headers);
  },
  read(reader, { view, replica }) {
    const logView = reader.u32();
    const [op, commit, commitChecksum] = [reader.u64Number(), reader.u64Number(), reader.u128()];
    const mayHaveLost = readFlag(reader);
    const headers = readPrepareRecords(reader);
    return { kind: "doViewChange", view, replica, logView, op, commit, commitChecksum, headers, mayHaveLost };
  },
};
