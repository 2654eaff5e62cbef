import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";

/** Everything up to an op is committed. */
export interface CommitMessage {
  readonly kind: "commit";
  readonly view: number;
  readonly commit: number;
  /** Checksum of op `commit`; 0 for none. */
  readonly commitChecksum: bigint;
}

/** Fields: commit u64, its checksum u128. */
export const commitCodec: FieldCodec<CommitMessage> = {
  command: ReplicaCommand.commit,
  write: (writer, { commit, commitChecksum }) => void writer.u64(commit).u128(commitChecksum),
  read: (reader, { view }) => ({
    kind: "commit",
    view,
    commit: reader.u64Number(),
    commitChecksum: reader.u128(),
  }),
};
