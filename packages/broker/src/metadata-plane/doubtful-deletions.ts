import type { PartitionIdentity } from "@millrace/metadata";
import type { Replica } from "@millrace/vsr";
import { executeOp } from "./execute-op.ts";
import { effectsBetween } from "./installed-effects.ts";
import type { MetadataBody } from "./metadata-body.ts";
import { DELETING } from "./partition-operations.ts";
import type { RecoveredMetadata } from "./recover-state.ts";
import { decodeSnapshot, encodeSnapshot } from "./snapshot.ts";

/**
 * Partitions that a deletion takes away of which this node does not know, after a start, whether it is
 * committed.
 *
 * Before the stop it may have executed it, and been counted among those that have: then a client was told
 * that the partition is gone. So it has no part in the partition's group until it knows.
 * @see docs/adr/0062
 */
export class DoubtfulDeletions {
  readonly #names = new Set<string>();
  /** The last of the deletions. */
  readonly #lastOp: number;

  constructor({ state, end, suffix }: RecoveredMetadata, clientsMax: number) {
    this.#lastOp = suffix.findLast(({ operation }) => DELETING.has(operation))?.op ?? 0;
    if (this.#lastOp === 0) return;
    const { catalog } = decodeSnapshot(encodeSnapshot({ state, end }), clientsMax).state;
    for (const { body, ...prepare } of suffix) {
      executeOp(catalog, { ...prepare, body: (body as MetadataBody).bytes });
    }
    for (const effect of effectsBetween(state.catalog, catalog)) {
      if (effect.kind === "partition-deleted") this.#names.add(nameOf(effect.partition));
    }
  }

  /** True for a partition of which it is not known yet whether it is gone. */
  has(partition: PartitionIdentity, metadata: Pick<Replica, "status" | "op" | "commit">): boolean {
    if (this.#names.size === 0) return false;
    const { status, op, commit } = metadata;
    const isKnown = status === "normal" && commit >= Math.min(op, this.#lastOp);
    if (isKnown) this.#names.clear();
    return this.#names.has(nameOf(partition));
  }
}

function nameOf({ streamId, topicId, partitionId, revision }: PartitionIdentity): string {
  return `${streamId}/${topicId}/${partitionId}-${revision}`;
}
