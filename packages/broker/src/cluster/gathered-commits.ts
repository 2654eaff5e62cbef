import { COMMITS_MAX, type PartitionCommit } from "@millrace/protocol";

/** What groups of partitions say of their commits, gathered for each node. */
export class GatheredCommits {
  readonly #byNode = new Map<number, PartitionCommit[]>();

  /** Takes one more for a node. */
  add(to: number, { partition, view, commit, commitChecksum }: PartitionCommit): void {
    const one = { partition, view, commit, commitChecksum };
    const gathered = this.#byNode.get(to);
    if (gathered === undefined) this.#byNode.set(to, [one]);
    else gathered.push(one);
  }

  /** Says what was gathered, in as many messages as it takes, each with its first group. */
  flush(send: (to: number, commits: readonly PartitionCommit[], first: PartitionCommit) => void): void {
    for (const [to, gathered] of this.#byNode) {
      for (let at = 0; at < gathered.length; at += COMMITS_MAX) {
        const commits = gathered.slice(at, at + COMMITS_MAX);
        const [first] = commits;
        if (first !== undefined) send(to, commits, first);
      }
    }
  }
}
