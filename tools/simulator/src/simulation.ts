import { SimClient } from "./client/sim-client.ts";
import { Chance } from "./engine/chance.ts";
import { EventQueue } from "./engine/event-queue.ts";
import { Ambush } from "./faults/ambush.ts";
import { Nemesis } from "./faults/nemesis.ts";
import { SimNetwork } from "./network/sim-network.ts";
import type { GroupHost } from "./node/group-host.ts";
import { SimNode } from "./node/sim-node.ts";
import { GroupOracle } from "./oracle/group-oracle.ts";
import { asViolation, Violation } from "./oracle/violation.ts";
import { RunCounts } from "./run-counts.ts";
import { type PlanOptions, planLine, planOf, type SeedPlan, TICK_MICROS } from "./seed-plan.ts";
import type { World } from "./world.ts";

/** Its faults go on until a run has so many, up to `TICKS_FACTOR_MAX` times its ticks. */
const OPERATIONS_MIN = 200;
const FAULTS_MIN = 20;
const TICKS_FACTOR_MAX = 4;
/** Once healed, a quorum has so many ticks to answer everything and to agree on all of it: two minutes. */
const PROGRESS_TICKS_MAX = 12_000;
/** How often the run looks whether it is done. */
const LOOK_TICKS = 50;

/** What one seed did. */
export interface SimulationReport {
  readonly operations: number;
  readonly faults: number;
  readonly ticks: number;
  readonly counts: RunCounts;
}

/** One seed: nodes, clients and trouble, then a healed quorum that must agree. */
export class Simulation {
  readonly plan: SeedPlan;
  readonly #world: World;
  readonly #nemesis: Nemesis;
  #ticks = 0;

  /** @param note  takes the lines of the trace; without it none are made */
  constructor(seed: number, options: PlanOptions = {}, note?: (line: string) => void) {
    this.plan = planOf(seed, options);
    this.#world = createWorld(this.plan, note);
    this.#nemesis = new Nemesis(this.#world);
  }

  /** Runs to its end. @throws Violation */
  run(): SimulationReport {
    this.#world.note?.(`plan ${planLine(this.plan)}`);
    try {
      for (const node of this.#world.nodes) node.start();
      for (const client of this.#world.clients) client.begin();
      this.#nemesis.begin();
      while (!this.#isEnough()) this.#pass(LOOK_TICKS);
      this.#settle();
    } catch (error) {
      throw asViolation(error, this.#ticks);
    }
    const { counts } = this.#world;
    return { operations: this.#operations, faults: this.#nemesis.count, ticks: this.#ticks, counts };
  }

  get #operations(): number {
    return this.#world.clients.reduce((sum, { answered }) => sum + answered, 0);
  }

  #isEnough(): boolean {
    if (this.#ticks < this.plan.ticks) return false;
    if (this.#ticks >= TICKS_FACTOR_MAX * this.plan.ticks) return true;
    return this.#operations >= OPERATIONS_MIN && this.#nemesis.count >= FAULTS_MIN;
  }

  #pass(ticks: number): void {
    this.#ticks += ticks;
    this.#world.queue.runUntil(this.#ticks * TICK_MICROS);
  }

  /** Heals, and demands that everything is answered and agreed on. @throws Violation no-progress */
  #settle(): void {
    const living = this.#nemesis.heal();
    for (let count = this.#operations; count < OPERATIONS_MIN; count = this.#operations) {
      this.#demand(living, () => this.#operations > count);
    }
    for (const client of this.#world.clients) client.end();
    const endedTicks = this.#ticks;
    this.#demand(living, () => this.#isSettled(living));
    this.#world.counts.settleTicks = this.#ticks - endedTicks;
    for (const node of living) {
      for (const { group, log } of node.hosts) {
        this.#world.oracles[group.group]?.onEnd(node.index, log.snapshot());
      }
    }
    this.#compareTables(living);
  }

  /** @throws Violation no-progress */
  #demand(living: readonly SimNode[], isMet: () => boolean): void {
    const endTicks = this.#ticks + PROGRESS_TICKS_MAX;
    for (; !isMet(); this.#pass(LOOK_TICKS)) {
      if (this.#ticks >= endTicks) throw new Violation("no-progress", this.#standLine(living));
    }
  }

  #isSettled(living: readonly SimNode[]): boolean {
    const { clients } = this.#world;
    if (clients.some(({ isDone }) => !isDone)) return false;
    return living.every(({ hosts }) => hosts.every((host) => this.#isHostSettled(host)));
  }

  #isHostSettled({ replica, log, group }: GroupHost): boolean {
    const due = this.#world.oracles[group.group]?.op;
    return replica.status === "normal" && replica.commit === due && log.op === due;
  }

  #compareTables(living: readonly SimNode[]): void {
    for (const { group } of this.plan.groups) {
      const tables = living.map(({ hosts }) => hosts[group]?.state().table ?? new Uint8Array(0));
      const isEqual = tables.every((table) => Buffer.compare(table, tables[0] as Uint8Array) === 0);
      if (!isEqual) throw new Violation("diverged", `group ${group}: client tables differ at the end`);
    }
  }

  #standLine(living: readonly SimNode[]): string {
    const stands = living.flatMap(({ index, hosts }) =>
      hosts
        .filter((host) => !this.#isHostSettled(host))
        .map(({ group, replica }) => {
          const { view, logView, status, op, commit } = replica;
          return `r${index} g${group.group} view ${view}/${logView} ${status} op ${op} commit ${commit}`;
        }),
    );
    const waiting = this.#world.clients.filter(({ isDone }) => !isDone).map(String);
    const { replicaCount } = this.plan;
    return `${living.length} of ${replicaCount} healed for ${PROGRESS_TICKS_MAX} ticks, not settled: ${[...stands, ...waiting].join("; ")}`;
  }
}

function createWorld(plan: SeedPlan, note: ((line: string) => void) | undefined): World {
  const queue = new EventQueue();
  const chance = new Chance(plan.seed ^ 0x5eed);
  const network = new SimNetwork(queue, chance.fork(), plan.network);
  const oracles = plan.groups.map((group) => new GroupOracle(plan.replicaCount, group, !plan.isOutcomeOnly));
  const counts = new RunCounts();
  const world: World = {
    plan,
    queue,
    chance,
    network,
    oracles,
    counts,
    ambush: new Ambush(),
    nodes: [],
    clients: [],
    note,
  };
  for (let index = 0; index < plan.replicaCount; index += 1) world.nodes.push(new SimNode(world, index));
  for (const group of plan.groups) {
    for (let count = 0; count < group.clients; count += 1) {
      world.clients.push(new SimClient(world, group, world.clients.length));
    }
  }
  return world;
}
