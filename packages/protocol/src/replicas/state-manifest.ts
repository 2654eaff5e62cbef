import { ReplicaCommand } from "@millrace/framing";
import type { FieldCodec } from "./field-codec.ts";
import { readList, writeList } from "./field-forms.ts";

/**
 * Parts of one state at most: two files for each of the 32,000 segments that a partition of 1 TiB has when
 * they are 32 MiB long. With names of 40 bytes the manifest is 4 MiB.
 */
export const STATE_PARTS_MAX = 65_536;

/** A piece of a state that is fetched by itself: a file, a table. */
export interface StatePart {
  /** 1..255 bytes; what it means is agreed between the two hosts. */
  readonly name: string;
  readonly length: number;
  /** Of all its bytes, u128. */
  readonly checksum: bigint;
}

/** What the state of a group consists of at the sender, who keeps it until the transfer ends. */
export interface StateManifestMessage {
  readonly kind: "stateManifest";
  readonly view: number;
  readonly replica: number;
  readonly transfer: number;
  /** The state is as of this op, whose prepare has this checksum. */
  readonly op: number;
  readonly checksum: bigint;
  readonly parts: readonly StatePart[];
}

/** Fields: transfer u32, op u64, its checksum u128, then the parts: name, length u64, checksum u128. */
export const stateManifestCodec: FieldCodec<StateManifestMessage> = {
  command: ReplicaCommand.stateManifest,
  write(writer, { transfer, op, checksum, parts }) {
    writer.u32(transfer).u64(op).u128(checksum);
    writeList(writer, parts, {
      countMax: STATE_PARTS_MAX,
      write: (into, part) => void into.name(part.name).u64(part.length).u128(part.checksum),
    });
  },
  read(reader, { view, replica }) {
    const [transfer, op, checksum] = [reader.u32(), reader.u64Number(), reader.u128()];
    const parts = readList(reader, {
      countMax: STATE_PARTS_MAX,
      read: (from): StatePart => ({ name: from.name(), length: from.u64Number(), checksum: from.u128() }),
    });
    return { kind: "stateManifest", view, replica, transfer, op, checksum, parts };
  },
};
