import { SimRandom } from "@millrace/platform/sim";
import type { TestCluster } from "../test-cluster.ts";
import type { SentBatch } from "./history-batch.ts";
import type { HistoryClient } from "./history-client.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { HistoryPlan } from "./history-plan.ts";
import type { Rolls } from "./history-rolls.ts";

/** A tick of every replica's clock, at the pace of the cluster's. */
const TICK_MS = 10;
/** What every history comes to at least: ticks with faults, operations that were answered, faults. */
export const TICKS_MIN = 10_000;
export const OPERATIONS_MIN = 200;
export const FAULTS_MIN = 20;
/** No actor's number: chance of what a seed plays. */
const PLAN_ACTOR = 900;
/** Between storms of faults clients take so many times as long from one thing to the next. */
const CALM_FACTOR = 16;

/** What the actors of one history share. */
export class HistoryWorld {
  readonly cluster: TestCluster;
  readonly seed: number;
  readonly plan: HistoryPlan;
  readonly clients = new Set<HistoryClient>();
  /** The partitions of all topics there ever were. */
  readonly topics: TopicOracle[] = [];
  /** Batches whose partition the cluster chooses. */
  readonly balanced: SentBatch[] = [];
  /** A node on whose disk a bit has changed by itself, also when it has got a new one. */
  rotten: number | undefined;
  /** It has. */
  isDiskReplaced = false;
  /** Segments that nodes begin. */
  readonly rolls: Rolls;
  readonly lines: string[] = [];
  /** When everything was mended: nothing goes wrong any more. */
  healedMs: number | undefined;
  /** Ticks until then. */
  ticksMended = 0;
  /** Operations that were answered, each once. */
  operations = 0;
  /** Faults that did something. */
  faults = 0;
  /** Losses of a node right behind the beginning of a segment. */
  rollLosses = 0;
  /** Deletions of segments that were answered. */
  trims = 0;
  /** Polls of members that stored the offset of what they brought. */
  autoCommits = 0;
  /** For a while nothing more is broken. */
  isCalm = false;

  readonly #note: ((line: string) => void) | undefined;

  /** @param rolls  sees the calls to the disks of the cluster */
  constructor(seed: number, cluster: TestCluster, rolls: Rolls, note?: (line: string) => void) {
    this.#note = note;
    this.rolls = rolls;
    this.seed = seed;
    this.cluster = cluster;
    this.plan = new HistoryPlan(this.randomOf(PLAN_ACTOR));
  }

  get nowMs(): number {
    return this.cluster.clock.monotonicMs();
  }

  /** Ticks since the beginning. */
  get ticks(): number {
    return Math.floor(this.nowMs / TICK_MS);
  }

  /** Nobody begins anything any more. */
  get isOver(): boolean {
    return this.healedMs !== undefined && this.operations >= OPERATIONS_MIN;
  }

  /** What a client's pause is multiplied with. */
  get paceFactor(): number {
    return this.isCalm ? CALM_FACTOR : 1;
  }

  /** Chance of one actor. */
  randomOf(actor: number): SimRandom {
    return new SimRandom(this.seed * 1000 + actor);
  }

  /** A bit has changed on the disk a node has now: it serves what can be read in front of that. */
  isRotten(at: number): boolean {
    return this.rotten === at && !this.isDiskReplaced;
  }

  /** Notes what happened. */
  trace(who: string, what: string): void {
    const line = `${this.nowMs.toFixed(3)} ${who} ${what}`;
    this.lines.push(line);
    this.#note?.(line);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.cluster.clock.setTimer(ms, resolve));
  }

  /** All partitions of a topic. */
  partitionsOf({ name }: TopicOracle): TopicOracle[] {
    return this.topics.filter((one) => one.name === name);
  }

  /** The partitions of all topics that nobody has begun to delete. */
  get keptTopics(): TopicOracle[] {
    return this.topics.filter(({ state }) => state === "kept");
  }

  /** Topics that nobody has begun to delete. */
  get topicsKept(): number {
    return new Set(this.keptTopics.map(({ name }) => name)).size;
  }

  /** A partition of a topic that nobody has begun to delete. */
  pickTopic(below: (limit: number) => number): TopicOracle | undefined {
    const kept = this.keptTopics;
    return kept[below(kept.length)];
  }

  /** Ends a node's process in some way; its clients lose their connections. */
  end(at: number, how: () => void): void {
    how();
    for (const client of this.clients) if (client.node === at) client.leave();
  }
}
