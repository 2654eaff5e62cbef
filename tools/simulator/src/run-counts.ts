/** How often a run went the rare ways, so that a test can tell that they are gone at all. */
export class RunCounts {
  /** Views that began: a primary said startView of them. */
  views = 0;
  /** Suffixes that were cut off a journal. */
  cuts = 0;
  /** Ops that a peer read back from its journal for another. */
  reads = 0;
  /** States that were fetched from a peer and installed. */
  installs = 0;
  /** Replicas that started with a journal that may have held more. */
  harmedStarts = 0;
  /** Ticks from the last requests on a healed group until all was agreed on; of several runs the most. */
  settleTicks = 0;

  /** Adds another run's. */
  add(other: RunCounts): void {
    this.views += other.views;
    this.cuts += other.cuts;
    this.reads += other.reads;
    this.installs += other.installs;
    this.harmedStarts += other.harmedStarts;
    this.settleTicks = Math.max(this.settleTicks, other.settleTicks);
  }

  toString(): string {
    const { views, cuts, reads, installs, harmedStarts, settleTicks } = this;
    const journals = `${cuts} suffixes cut, ${reads} ops read back, ${installs} states fetched`;
    return `${views} views, ${journals}, ${harmedStarts} starts after a loss, settled within ${settleTicks} ticks`;
  }
}
