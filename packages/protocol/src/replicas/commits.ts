import { type PartitionAddress, ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readList, writeList } from "./field-forms.ts";

/** Groups in one message at most, 60 KiB of them: whoever leads more says several messages. */
export const COMMITS_MAX = 1024;

/** What the primary of one partition's group has committed, see `CommitMessage`. */
export interface PartitionCommit {
  readonly partition: PartitionAddress;
  readonly view: number;
  readonly commit: number;
  readonly commitChecksum: bigint;
}

/** The commit messages of many groups of partitions in one. */
export interface CommitsMessage {
  readonly kind: "commits";
  readonly view: number;
  readonly replica: number;
  readonly commits: readonly PartitionCommit[];
}

/**
 * Fields: count u32, so many: stream u32, topic u32, partition u32, revision u64, view u32, commit u64, its
 * checksum u128.
 */
export const commitsCodec: FieldCodec<CommitsMessage> = {
  command: ReplicaCommand.commits,
  write: (writer, { commits }) =>
    writeList(writer, commits, {
      countMax: COMMITS_MAX,
      write: (into, { partition, view, commit, commitChecksum }) => {
        into.u32(partition.streamId).u32(partition.topicId).u32(partition.partitionId);
        into.u64(partition.revision).u32(view).u64(commit).u128(commitChecksum);
      },
    }),
  read: (reader, { view, replica }) => ({
    kind: "commits",
    view,
    replica,
    commits: readList(reader, {
      countMax: COMMITS_MAX,
      read: (from): PartitionCommit => {
        const [streamId, topicId, partitionId] = [from.u32(), from.u32(), from.u32()];
        const partition = { streamId, topicId, partitionId, revision: from.u64Number() };
        return { partition, view: from.u32(), commit: from.u64Number(), commitChecksum: from.u128() };
      },
    }),
  }),
};
