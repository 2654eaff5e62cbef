import { CodedError } from "@millrace/errors";
import type { PartitionIdentity } from "@millrace/storage";
import { LocalPartition } from "./local-partition.ts";
import type { PartitionHandle, SeenRequest } from "./partition-handle.ts";
import type { PartitionHost } from "./partition-host.ts";
import type { PartitionOwners } from "./partition-plane.ts";

/** All partitions are this shard's. */
export class LocalPartitions implements PartitionOwners {
  readonly #host: PartitionHost;

  constructor(host: PartitionHost) {
    this.#host = host;
  }

  make(_packed: number, identity: PartitionIdentity): LocalPartition {
    return new LocalPartition(identity, this.#host);
  }

  freshen(callback: () => void): void {
    callback();
  }

  findSeen(
    handles: readonly PartitionHandle[],
    request: SeenRequest,
    found: (handle: PartitionHandle | CodedError | undefined) => void,
  ): void {
    const partitions = handles.filter((handle) => handle instanceof LocalPartition);
    let [waiting, isFound] = [partitions.length, false];
    let refusal: CodedError | undefined;
    const heard = (partition: LocalPartition, isSeen: boolean | number) => {
      waiting -= 1;
      if (isFound) return;
      if (typeof isSeen === "number") refusal = new CodedError(isSeen);
      isFound = isSeen === true || waiting === 0;
      if (isFound) found(isSeen === true ? partition : refusal);
    };
    if (waiting === 0) found(undefined);
    for (const partition of partitions) partition.findSeen(request, (isSeen) => heard(partition, isSeen));
  }

  stop(): Promise<void> {
    return this.#host.stop();
  }
}
