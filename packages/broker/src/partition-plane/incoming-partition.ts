import { assert } from "@millrace/errors";
import type { StatePart } from "@millrace/protocol";
import { IncomingState, type PartitionOptions, type StateDescription } from "@millrace/storage";
import type { StateManifest, StateSink } from "../cluster/state-transfer/state-source.ts";
import type { PartitionGroup } from "./partition-group.ts";
import { incomingPath } from "./partition-path.ts";

/** Another node's state of a partition on its way into the group: its parts are the files of segments. */
export class IncomingPartition implements StateSink {
  readonly #group: PartitionGroup;
  readonly #options: PartitionOptions;
  readonly #files: IncomingState;
  #described: StateDescription | undefined;

  /** @param options  with which the group's partition is opened */
  constructor(group: PartitionGroup, options: PartitionOptions) {
    this.#group = group;
    this.#options = options;
    this.#files = new IncomingState(options.disk, incomingPath(group.identity));
  }

  begin({ op, checksum: opChecksum, parts: files }: StateManifest): Promise<void> {
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

  /** Once they are to be installed the files stay: a start after a failure in between needs them. */
  async discard(): Promise<void> {
    if (this.#described !== undefined && this.#group.replication?.isReplacing !== true) {
      await this.#files.discard();
    }
  }
}
