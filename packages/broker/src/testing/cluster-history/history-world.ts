import { SimRandom } from "@millrace/platform/sim";
import type { TestCluster } from "../test-cluster.ts";
import type { HistoryClient } from "./history-client.ts";
import type { TopicOracle } from "./history-oracle.ts";

/** What the actors of one history share. */
export class HistoryWorld {
  readonly cluster: TestCluster;
  readonly seed: number;
  readonly clients = new Set<HistoryClient>();
  /** The partitions of all topics there ever were. */
  readonly topics: TopicOracle[] = [];
  /** A node on whose disk a bit has changed by itself. */
  rotten: number | undefined;
  readonly lines: string[] = [];
  /** When everything was mended: nothing goes wrong any more, and nobody begins anything. */
  healedMs: number | undefined;

  constructor(seed: number, cluster: TestCluster) {
    this.seed = seed;
    this.cluster = cluster;
  }

  get nowMs(): number {
    return this.cluster.clock.monotonicMs();
  }

  /** Chance of one actor. */
  randomOf(actor: number): SimRandom {
    return new SimRandom(this.seed * 1000 + actor);
  }

  /** Notes what happened. */
  trace(who: string, what: string): void {
    this.lines.push(`${this.nowMs.toFixed(3)} ${who} ${what}`);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.cluster.clock.setTimer(ms, resolve));
  }

  /** All partitions of a topic. */
  partitionsOf({ name }: TopicOracle): TopicOracle[] {
    return this.topics.filter((one) => one.name === name);
  }

  /** A partition of a topic that nobody has begun to delete. */
  pickTopic(below: (limit: number) => number): TopicOracle | undefined {
    const kept = this.topics.filter(({ state }) => state === "kept");
    return kept[below(kept.length)];
  }

  /** Ends a node's process in some way; its clients lose their connections. */
  end(at: number, how: () => void): void {
    how();
    for (const client of this.clients) if (client.node === at) client.leave();
  }
}
