import { ReplicaCommand } from "@millrace/framing";
import {
  type GroupStanding,
  type PartitionKey,
  readGroupStanding,
  readPartitionKey,
  writeGroupStanding,
  writePartitionKey,
} from "../cluster/group-standing.ts";
import type { FieldCodec } from "./field-codec.ts";
import { readList, writeList } from "./field-forms.ts";

/** Partitions in one message at most: the page of a client, and what the asker did not know of. */
export const STANDINGS_MAX = 2048;

/** Where a replica of a partition's group stands. */
export interface PartitionStanding extends PartitionKey {
  readonly standing: GroupStanding;
}

/** Where the sender stands in the groups that it was asked for. */
export interface StandingsReplyMessage {
  readonly kind: "standingsReply";
  readonly view: number;
  readonly replica: number;
  readonly forward: number;
  readonly metadata: GroupStanding;
  readonly partitions: readonly PartitionStanding[];
}

/**
 * Fields: forward u64, a standing, count u32, so many: stream u32, topic u32, partition u32, standing. A
 * standing is status u8, view u32, op u64, commit u64.
 */
export const standingsReplyCodec: FieldCodec<StandingsReplyMessage> = {
  command: ReplicaCommand.standingsReply,
  write(writer, { forward, metadata, partitions }) {
    writeGroupStanding(writer.u64(forward), metadata);
    writeList(writer, partitions, {
      countMax: STANDINGS_MAX,
      write: (into, one) => {
        writePartitionKey(into, one);
        writeGroupStanding(into, one.standing);
      },
    });
  },
  read: (reader, { view, replica }) => ({
    kind: "standingsReply",
    view,
    replica,
    forward: reader.u64Number(),
    metadata: readGroupStanding(reader),
    partitions: readList(reader, {
      countMax: STANDINGS_MAX,
      read: (from): PartitionStanding => ({ ...readPartitionKey(from), standing: readGroupStanding(from) }),
    }),
  }),
};
