import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { type PrepareRecord, readPrepareRecords, writePrepareRecords } from "./prepare-record.ts";

/** A view has begun, with this log. */
export interface StartViewMessage {
  readonly kind: "startView";
  readonly view: number;
  readonly op: number;
  readonly commit: number;
  readonly commitChecksum: bigint;
  /** Ops `commit + 1` to `op`. */
  readonly headers: readonly PrepareRecord[];
  /** Of the request this answers; 0 when nobody asked. */
  readonly nonce: number;
}

/** Fields: op u64, commit u64, its checksum u128, nonce u64, then the records. */
export const startViewCodec: FieldCodec<StartViewMessage> = {
  command: ReplicaCommand.startView,
  write(writer, { op, commit, commitChecksum, nonce, headers }) {
    writer.u64(op).u64(commit).u128(commitChecksum).u64(nonce);
    writePrepareRecords(writer, headers);
  },
  read(reader, { view }) {
    const [op, commit, commitChecksum] = [reader.u64Number(), reader.u64Number(), reader.u128()];
    const nonce = reader.u64Number();
    return {
      kind: "startView",
      view,
      op,
      commit,
      commitChecksum,
      headers: readPrepareRecords(reader),
      nonce,
    };
  },
};
