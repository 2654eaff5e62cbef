import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readList, writeList } from "./field-forms.ts";

/** Replicas a cluster may have, as many as a replica id can name. */
const REPLICAS_MAX = 255;

/**
 * The sender's directory was empty when it started, and these are the starts it has heard the same of.
 *
 * A start is named by a number drawn at it. Once the cluster has formed, its nodes answer with the starts it
 * formed of.
 */
export interface FormationMessage {
  readonly kind: "formation";
  readonly view: number;
  readonly replica: number;
  /** By replica, the sender's own among them; 0 for one that was not heard of. Below 2^53. */
  readonly starts: readonly number[];
}

/** Fields: count u32, so many u64. */
export const formationCodec: FieldCodec<FormationMessage> = {
  command: ReplicaCommand.formation,
  write: (writer, { starts }) =>
    writeList(writer, starts, { countMax: REPLICAS_MAX, write: (into, start) => void into.u64(start) }),
  read: (reader, { view, replica }) => ({
    kind: "formation",
    view,
    replica,
    starts: readList(reader, { countMax: REPLICAS_MAX, read: (from) => from.u64Number() }),
  }),
};
