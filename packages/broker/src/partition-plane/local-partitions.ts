import type { CodedError } from "@millrace/errors";
import type { PartitionIdentity } from "@millrace/storage";
import { LocalPartition } from "./local-partition.ts";
import { findSeenAmong } from "./operations/find-seen.ts";
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
    findSeenAmong(partitions, request, found);
  }

  stop(): Promise<void> {
    return this.#host.stop();
  }
}
