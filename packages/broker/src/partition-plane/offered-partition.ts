import { CodedError, ErrorCode } from "@millrace/errors";
import type { Disk, DiskFile } from "@millrace/platform";
import type { StatePart } from "@millrace/protocol";
import type { Partition, StateDescription } from "@millrace/storage";
import type { OfferedState, StateSource } from "../cluster/state-transfer/state-source.ts";
import type { PartitionGroup } from "./partition-group.ts";
import { partitionPath } from "./partition-path.ts";

/** The state of a partition here, for other nodes. @param group  an open one */
export function partitionSource(disk: Disk, group: PartitionGroup): StateSource {
  return {
    offer: async () => {
      const { partition } = group;
      const described = await partition?.describeState();
      if (partition === undefined || described === undefined) return undefined;
      return new OfferedPartition(disk, { group, partition, described });
    },
  };
}

/** Checksums of parts are not told: records and batches have their own. */
const NO_CHECKSUM = 0n;

/**
 * Files of a partition, read for another node as long as the partition is the one they were described from.
 * Those that retention or a purge takes away meanwhile end it.
 */
class OfferedPartition implements OfferedState {
  readonly op: number;
  readonly checksum: bigint;
  readonly parts: readonly StatePart[];
  readonly #disk: Disk;
  readonly #group: PartitionGroup;
  readonly #partition: Partition;
  #open: { readonly name: string; readonly file: DiskFile } | undefined;

  constructor(
    disk: Disk,
    from: {
      readonly group: PartitionGroup;
      readonly partition: Partition;
      readonly described: StateDescription;
    },
  ) {
    const { op, opChecksum, files } = from.described;
    this.op = op;
    this.checksum = opChecksum;
    this.parts = files.map((file) => ({ ...file, checksum: NO_CHECKSUM }));
    this.#disk = disk;
    this.#group = from.group;
    this.#partition = from.partition;
  }

  async read(
    { name }: StatePart,
    { position, length }: { readonly position: number; readonly length: number },
  ): Promise<Uint8Array> {
    const file = await this.#fileOf(name);
    const bytes = new Uint8Array(length);
    const read = await new Promise<number>((resolve, reject) => {
      file.read(bytes, position, (error, count) => (error === undefined ? resolve(count) : reject(error)));
    });
    if (read < length || this.#group.partition !== this.#partition) throw changed();
    return bytes;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close().catch(() => undefined);
  }

  async #fileOf(name: string): Promise<DiskFile> {
    if (this.#group.partition !== this.#partition) throw changed();
    if (this.#open?.name === name) return this.#open.file;
    await this.close();
    const path = `${partitionPath(this.#group.identity)}/${name}`;
    if ((await this.#disk.stat(path)) === undefined) throw changed();
    const file = await this.#disk.openFile(path, "read");
    this.#open = { name, file };
    return file;
  }
}

function changed(): CodedError {
  return new CodedError(
    ErrorCode.TransientNotAccepted,
    "The state is not there any more; it may be asked anew.",
  );
}
