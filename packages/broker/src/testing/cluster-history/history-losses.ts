import { LocalPartition } from "../../partition-plane/local-partition.ts";
import type { TestCluster } from "../test-cluster.ts";

/**
 * Whether one more node may lose what it has written. At no time may two have: beside one that has lost
 * something the others have whatever was acknowledged. It has made up for that when it takes part in every
 * partition again, for then it has the whole log of a view.
 */
export class Losses {
  readonly #cluster: TestCluster;
  /** Something was lost since all were seen to take part. */
  #isDue = false;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  /** Nothing that was lost is not made up for. */
  get mayLose(): boolean {
    this.look();
    return !this.#isDue;
  }

  /** Looks whether what was lost is made up for: later one node or another may take part no more. */
  look(): void {
    if (this.#isDue && this.#areAllNormal) this.#isDue = false;
  }

  /** A node loses something now. */
  note(): void {
    this.#isDue = true;
  }

  /** Every node serves and knows the same partitions, and its replica takes part in each of them. */
  get #areAllNormal(): boolean {
    const known = this.#cluster.nodes.map(({ broker }) => {
      const handles = [...(broker?.shard.partitions.handles() ?? [])];
      const isNormal = ({ group }: LocalPartition) => group.replica?.status === "normal" && !group.isLost;
      const areNormal = handles.every((one) => one instanceof LocalPartition && isNormal(one));
      const ids = handles.map(({ identity }) => identity.partitionId).sort((one, other) => one - other);
      return broker !== undefined && areNormal ? ids.join() : undefined;
    });
    return known[0] !== undefined && known.every((ids) => ids === known[0]);
  }
}
