import { StorageOperation } from "../op-record/op-header.ts";
import { type OpRecord, RecordKind } from "../op-record/record.ts";
import type { PartitionOptions } from "../partition/partition-options.ts";

type Durabilities = Pick<PartitionOptions, "durability" | "offsetDurability">;

/** Lengths of a segment's two files behind one of its ops. */
export interface SegmentEnd {
  readonly opsLength: number;
  readonly logLength: number;
}

/**
 * How far the files of the segment that is replayed were synced for certain: behind the last op that asked
 * for a datasync and is known to be committed, for that came after the datasync.
 *
 * What lies behind it was read back, which proves nothing: a process that was killed may not have come to its
 * datasync, and pages whose datasync failed read well until the power fails.
 */
export class ProvenEnd {
  readonly #isSynced: (record: OpRecord) => boolean;
  /** Ops that are not known to be committed: as many as were in flight. */
  #waiting: ({ readonly op: number } & SegmentEnd)[] = [];
  #end: SegmentEnd = { opsLength: 0, logLength: 0 };

  constructor({ durability, offsetDurability }: Durabilities) {
    const areBatches = durability === "persisted";
    const areOffsets = offsetDurability === "persisted";
    this.#isSynced = ({ kind, header }) => {
      if (kind === RecordKind.batch) return areBatches;
      if (kind !== RecordKind.operation) return false;
      const { operation } = header;
      const isOffset =
        operation === StorageOperation.storeOffset || operation === StorageOperation.deleteOffset;
      return isOffset ? areOffsets : areBatches || areOffsets;
    };
  }

  /** The proven end; both lengths are 0 when nothing is proven. */
  get end(): SegmentEnd {
    return this.#end;
  }

  /** Notes a record that was replayed, and where the files stand behind it. */
  note(record: OpRecord, { opsLength, logLength }: SegmentEnd): void {
    if (this.#isSynced(record)) this.#waiting.push({ op: record.header.op, opsLength, logLength });
    while (this.#waiting[0] !== undefined && this.#waiting[0].op <= record.commit) {
      this.#end = this.#waiting.shift() ?? this.#end;
    }
  }
}

/** A proven end that nothing was noted of yet; nothing for topics that sync nothing. */
export function provenEndOf(durabilities: Durabilities): ProvenEnd | undefined {
  const { durability, offsetDurability } = durabilities;
  const isSynced = durability === "persisted" || offsetDurability === "persisted";
  return isSynced ? new ProvenEnd(durabilities) : undefined;
}
