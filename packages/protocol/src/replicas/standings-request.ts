import { ReplicaCommand } from "@millrace/framing";
import { type PartitionKey, readPartitionKey, writePartitionKey } from "../cluster/group-standing.ts";
import type { FieldCodec } from "./field-codec.ts";
import { readFlag, writeFlag } from "./field-forms.ts";

/** The sender asks where the receiver stands in the metadata group, and in groups of some partitions. */
export interface StandingsRequestMessage {
  readonly kind: "standingsRequest";
  readonly view: number;
  readonly replica: number;
  /** Chosen by the sender, below 2^53: the answer has it too. */
  readonly forward: number;
  /** Partitions from the first to the last of these, both included; nothing asks for none. */
  readonly range: PartitionRange | undefined;
}

/** Partitions by ascending stream, topic and partition. */
export interface PartitionRange {
  readonly first: PartitionKey;
  readonly last: PartitionKey;
}

/** Fields: forward u64, has a range u8, then twice stream u32, topic u32, partition u32. */
export const standingsRequestCodec: FieldCodec<StandingsRequestMessage> = {
  command: ReplicaCommand.standingsRequest,
  write(writer, { forward, range }) {
    writeFlag(writer.u64(forward), range !== undefined);
    if (range === undefined) return;
    writePartitionKey(writer, range.first);
    writePartitionKey(writer, range.last);
  },
  read(reader, { view, replica }) {
    const forward = reader.u64Number();
    const hasRange = readFlag(reader);
    const range = hasRange ? { first: readPartitionKey(reader), last: readPartitionKey(reader) } : undefined;
    return { kind: "standingsRequest", view, replica, forward, range };
  },
};
