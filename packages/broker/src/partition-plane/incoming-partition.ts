import { assert } from "@millrace/errors";
import type { StatePart } from "@millrace/protocol";
import type { IncomingState, PartitionOptions, StateDescription } from "@millrace/storage";
import type { StateManifest, StateSink } from "../cluster/state-transfer/state-source.ts";
import type { PartitionGroup } from "./partition-group.ts";

/** Another node's state of a partition on its way into the group: its parts are the files of segments. */
export class IncomingPartition implements StateSink {
  readonly #group: PartitionGroup;
  readonly #options: PartitionOptions;
  readonly #files: IncomingState;
  #described: StateDescription | undefined;

  /**
   * @param options  with which the group's partition is opened
   * @param files    those that come, and those that came before
   */
  constructor(group: PartitionGroup, options: PartitionOptions, files: IncomingState) {
    this.#group = group;
    this.#options = options;
    this.#files = files;
  }

  begin({ op, checksum: opChecksum, parts: files }: StateManifest): Promise<readonly number[]> {
    this.#described = { op, opChecksum, files };
    return this.#files.begin(files);
  }

  write({ name }: StatePart, position: number, bytes: Uint8Array): Promise<void> {
    return this.#files.write(name, position, bytes);
  }

  async finish(): Promise<void> {
    const { replication } = this.#group;
    assert(this.#described !== undefined && replication !== undefined, "a state is finished that was begun");
    await this.#files.settle(this.#options, this.#described);
    await replication.install(this.#described);
  }

  async keep(): Promise<void> {
    if (this.#described !== undefined) await this.#files.keep();
  }

  /** Once they are to be installed the files stay: a start after a failure in between needs them. */
  async discard(): Promise<void> {
    if (this.#described !== undefined && this.#group.replication?.isReplacing !== true) {
      await this.#files.discard();
    }
  }
}
