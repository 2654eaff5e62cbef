import { quorums } from "@millrace/vsr";
import type { Chance } from "../engine/chance.ts";
import type { SimNode } from "../node/sim-node.ts";
import type { SeedPlan } from "../seed-plan.ts";
import { timeText } from "../trace/host-line.ts";
import type { World } from "../world.ts";
import { AMBUSHES } from "./ambush.ts";
import type { FaultKind } from "./fault-kinds.ts";

/** A storm on the network loses and repeats so many of its packets. */
const STORM_LOSS = 0.4;
const STORM_REPEAT = 0.4;
/** A process that falls into an ambush is away for about this long, and falls about so long after it. */
const SOON_MICROS = 20_000;
const SLOW_LINK_MICROS = 300_000;
const DISK_SLOWNESS = 40;

/**
 * Brings trouble: one fault after another, each healed by itself after a while, several at once when they
 * come close. At its end it heals everything for a quorum.
 *
 * Of what cannot be survived it brings nothing: at no time may more replicas have lost written data than
 * every quorum of replication can spare, until they have made up for it.
 */
export class Nemesis {
  /** Faults that were brought. */
  count = 0;
  readonly #world: World;
  readonly #plan: SeedPlan;
  readonly #chance: Chance;
  #isOver = false;

  constructor(world: World) {
    this.#world = world;
    this.#plan = world.plan;
    this.#chance = world.chance.fork();
  }

  begin(): void {
    this.#next();
  }

  /** Ends all trouble. The nodes that must make progress from now on: all, or a quorum with the rest gone. */
  heal(): SimNode[] {
    this.#isOver = true;
    const { nodes, network, ambush } = this.#world;
    ambush.lift();
    network.heal({ ...this.#plan.network, loss: 0, late: 0 });
    const living = this.#survivors();
    for (const node of nodes) {
      node.device.slowness = 1;
      node.resume();
      if (!living.includes(node)) node.crash("kill");
      else node.start();
    }
    this.#note(`healed; replicas ${living.map(({ index }) => index).join(", ")} go on`);
    return living;
  }

  #next(): void {
    this.#world.queue.after(this.#chance.exponential(this.#plan.faultGapMicros), () => {
      if (this.#isOver) return;
      this.#strike();
      this.#next();
    });
  }

  #strike(): void {
    const kind = this.#chance.weighted(this.#plan.faultWeights);
    this.#bring(this.#faults[kind](), this.#plan.faultMeanMicros);
  }

  /** Counts a fault that was brought, and has it healed after a while. */
  #bring(heal: (() => void) | undefined, meanMicros: number): void {
    if (heal === undefined) return;
    this.count += 1;
    this.#world.queue.after(this.#chance.exponential(meanMicros), () => {
      if (!this.#isOver) heal();
    });
  }

  /** Each brings a fault and gives what heals it; undefined when it may not be brought now. */
  readonly #faults: Readonly<Record<FaultKind, () => (() => void) | undefined>> = {
    kill: () => this.#crash([this.#victim()], "kill"),
    power: () => this.#losePower(),
    "kill-all": () => this.#crash([...this.#world.nodes], "kill"),
    ambush: () => this.#layAmbush(),
    pause: () => this.#pause(),
    isolate: () => this.#split([this.#victim()], "both"),
    partition: () => this.#partition(),
    "one-way": () => this.#split([this.#victim()], this.#chance.pick(["in", "out"])),
    "slow-link": () => this.#slowLink(),
    storm: () => this.#storm(),
    "slow-disk": () => this.#slowDisk(),
    rot: () => this.#rot(),
    wipe: () => this.#wipe(),
    drift: () => this.#drift(),
  };

  /** Often a primary, for that hurts most. */
  #victim(): SimNode {
    const { nodes } = this.#world;
    const primaries = nodes.filter((node) => node.hosts.some(({ replica }) => replica.isPrimary));
    return this.#chance.pick(primaries.length > 0 && this.#chance.chance(0.5) ? primaries : nodes);
  }

  #crash(nodes: readonly SimNode[], kind: "kill" | "power"): (() => void) | undefined {
    const struck = nodes.filter(({ status }) => kind === "power" || status !== "down");
    if (struck.length === 0) return undefined;
    this.#note(`${kind} of ${struck.map(({ index }) => index).join(", ")}`);
    for (const node of struck) node.crash(kind);
    return () => {
      for (const node of this.#chance.shuffled(struck)) if (node.status === "down") node.start();
    };
  }

  /** Of any number of nodes when what is written is synced, else of one that may lose data now. */
  #losePower(): (() => void) | undefined {
    const { nodes } = this.#world;
    if (this.#plan.durability === "persisted") {
      const count = this.#chance.chance(0.3) ? nodes.length : 1;
      return this.#crash(this.#chance.shuffled(nodes).slice(0, count), "power");
    }
    const node = this.#victim();
    return this.#mayHarm(node) ? this.#crash([node], "power") : undefined;
  }

  /** A process ends right after something that it does rarely, and comes back soon. */
  #layAmbush(): undefined {
    this.#world.ambush.lay(this.#chance.pick(AMBUSHES), (node) => {
      this.#world.queue.after(this.#chance.pick([0, 0, this.#chance.exponential(SOON_MICROS)]), () => {
        if (this.#isOver || node.status !== "up") return;
        const mayLose = this.#plan.durability === "persisted" || this.#mayHarm(node);
        this.#bring(this.#crash([node], mayLose && this.#chance.chance(0.3) ? "power" : "kill"), SOON_MICROS);
      });
    });
  }

  #pause(): (() => void) | undefined {
    const node = this.#victim();
    if (node.status !== "up") return undefined;
    this.#note(`pause of ${node.index}`);
    node.pause();
    return () => node.resume();
  }

  #partition(): (() => void) | undefined {
    const { nodes } = this.#world;
    if (nodes.length < 2) return undefined;
    const side = this.#chance.shuffled(nodes).slice(0, this.#chance.between(1, nodes.length - 1));
    return this.#split(side, "both");
  }

  /** Cuts the links between some nodes and the rest, clients included for half of the cuts. */
  #split(side: readonly SimNode[], direction: "in" | "out" | "both"): (() => void) | undefined {
    const { nodes, clients, network } = this.#world;
    const others = nodes.filter((node) => !side.includes(node)).map(({ index }) => index);
    if (this.#chance.chance(0.5)) others.push(...clients.map(({ index }) => nodes.length + index));
    if (others.length === 0) return undefined;
    this.#note(`cut (${direction}) of ${side.map(({ index }) => index).join(", ")}`);
    const set = (isCut: boolean) => {
      for (const { index } of side) {
        for (const other of others) {
          if (direction !== "in") network.cut(index, other, isCut);
          if (direction !== "out") network.cut(other, index, isCut);
        }
      }
    };
    set(true);
    return () => {
      this.#note(`joined again: ${side.map(({ index }) => index).join(", ")}`);
      set(false);
    };
  }

  #slowLink(): (() => void) | undefined {
    const { nodes, network } = this.#world;
    const [from, to] = [this.#chance.below(nodes.length), this.#chance.below(nodes.length)];
    if (from === to) return undefined;
    this.#note(`slow link from ${from} to ${to}`);
    network.slow(from, to, this.#chance.fraction() * SLOW_LINK_MICROS);
    return () => network.slow(from, to, 0);
  }

  #storm(): () => void {
    const { network } = this.#world;
    this.#note("storm");
    network.plan = { ...this.#plan.network, loss: STORM_LOSS, repeat: STORM_REPEAT };
    return () => {
      network.plan = this.#plan.network;
    };
  }

  #slowDisk(): () => void {
    const node = this.#victim();
    this.#note(`slow disk of ${node.index}`);
    node.device.slowness = DISK_SLOWNESS;
    return () => {
      node.device.slowness = 1;
    };
  }

  /** Bits of one op change in one replica's journal; the process is killed, so that a start finds it. */
  #rot(): (() => void) | undefined {
    const node = this.#chance.pick(this.#world.nodes);
    const { group } = this.#chance.pick(this.#plan.groups);
    const journal = node.stores[group]?.journal;
    if (journal === undefined || !this.#mayHarm(node)) return undefined;
    if (!journal.rot(this.#chance.between(journal.base + 1, journal.op))) return undefined;
    this.#note(`rot in the journal of ${node.index}, group ${group}`);
    return this.#crash([node], "kill") ?? (() => {});
  }

  /** One node begins again with an empty directory. */
  #wipe(): (() => void) | undefined {
    const node = this.#chance.pick(this.#world.nodes);
    if (!this.#mayHarm(node)) return undefined;
    const heal = this.#crash([node], "kill") ?? (() => node.start());
    this.#note(`the directory of ${node.index} is wiped`);
    for (const store of node.stores) store.wipe();
    for (const oracle of this.#world.oracles) oracle.onWiped(node.index);
    return heal;
  }

  #drift(): () => void {
    const node = this.#victim();
    const rate = node.clockRate;
    node.clockRate = this.#chance.pick([0.5, 0.8, 1.25, 2]);
    this.#note(`clock of ${node.index} runs at ${node.clockRate}`);
    return () => {
      node.clockRate = rate;
    };
  }

  /** Whether a node may lose written data now: each quorum of replication keeps an intact one. */
  #mayHarm(node: SimNode): boolean {
    const { nodes } = this.#world;
    const harmed = nodes.filter((other) => other !== node && other.isHarmed);
    return harmed.length + 1 < quorums(nodes.length).replication;
  }

  /** All nodes, or as many as a quorum needs; those that lost data make up for it, so the intact are in. */
  #survivors(): SimNode[] {
    const { nodes } = this.#world;
    if (this.#chance.chance(0.5)) return [...nodes];
    const { replication, viewChange } = quorums(nodes.length);
    const needed = Math.max(replication, viewChange);
    const shuffled = this.#chance.shuffled(nodes);
    const [intact, harmed] = [true, false].map((isIntact) =>
      shuffled.filter((node) => node.isHarmed !== isIntact),
    );
    const least = harmed?.length === 0 ? needed : Math.max(needed, intact?.length ?? 0);
    return [...(intact ?? []), ...(harmed ?? [])].slice(0, least);
  }

  #note(what: string): void {
    const { note, queue } = this.#world;
    note?.(`${timeText(queue.nowMicros)} ** ${what}`);
  }
}
