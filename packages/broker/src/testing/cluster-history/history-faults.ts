import type { Packet, SimDisk, SimRandom } from "@millrace/platform/sim";
import { syncNames } from "../sync-names.ts";
import { Losses } from "./history-losses.ts";
import { messageFilesOf, removeNewest } from "./history-message-files.ts";
import { type RollLoss, RollLosses } from "./history-roll-losses.ts";
import { FAULTS_MIN, type HistoryWorld, OPERATIONS_MIN, TICKS_MIN } from "./history-world.ts";

/** What a seed may do to the nodes. */
export interface FaultKinds {
  /**
   * Power fails on single nodes: at any time where everything is persisted, else beside no other loss and
   * when what was lost before is made up for.
   */
  readonly hasPowerLoss: "often" | "apart" | "never";
  /** One directory is lost, once. */
  readonly hasWipe: boolean;
  /** The newest segment of a partition goes from one disk with all its files, beside no other loss. */
  readonly hasGoneFiles: boolean;
  /** A bit changes by itself on one disk, once; never beside a lost directory. */
  readonly hasRot: boolean;
}

const DOWN_MAX_MS = 4000;
const FAULT_MAX_MS = 3000;
const PAUSE_MAX_MS = 1200;
/** Harm that is done in one storm. */
const STORM_MIN = 6;
const STORM_MAX = 16;
/** Longest time between two storms, by the seed: for an election and for what was missed, or not. */
const CALMS_MAX_MS = [10_000, 30_000, 60_000] as const;
/** With few operations it lasts so many times as long at most; the rest are done when all is mended. */
const LENGTH_FACTOR_MAX = 2;
const DISK_LATENCY_MAX_MS = 40;
/** Most of the time that some disks take goes into syncs, beside which a node writes on. */
const SYNC_LATENCY_MAX_MS = 300;
const DELAY_MAX_MS = 120;
/** Time until an operator replaces a disk that rots, or until all nodes serve after that. */
const ROT_MAX_MS = 20_000;
const LOOK_INTERVAL_MS = 50;
/** Bytes of a file that rots: several batches. */
const ROT_LENGTH_MIN = 2000;

/** Ends nodes, cuts and spoils their links and slows their disks, as a seed decides. */
export class Faults {
  readonly #world: HistoryWorld;
  readonly #random: SimRandom;
  readonly #kinds: FaultKinds;
  /** Links that carry nothing, as "from-to". */
  readonly #cut = new Set<string>();
  /** Chances by which a frame is lost, comes twice or late. */
  #noise = { loss: 0, repeat: 0, delay: 0 };
  #isWiped = false;
  readonly #losses: Losses;
  readonly #rollLosses: RollLosses;
  readonly #underWay = new Set<Promise<void>>();

  constructor(world: HistoryWorld, random: SimRandom, kinds: FaultKinds) {
    this.#world = world;
    this.#random = random;
    this.#kinds = kinds;
    const { cluster } = world;
    this.#losses = new Losses(cluster);
    const does = (who: string, what: string) => this.#does(who, what);
    this.#rollLosses = new RollLosses({ world, random, losses: this.#losses, cut: this.#cut, does });
    cluster.passes = ({ from, to }) => !this.#cut.has(`${from}-${to}`);
    cluster.delaysOf = (packet) => this.#delaysOf(packet);
  }

  /** One storm after the other until the history is long enough, then mends everything. */
  async run(): Promise<void> {
    const { world } = this;
    const calmMaxMs = CALMS_MAX_MS[this.#random.below(CALMS_MAX_MS.length)]!;
    if (this.#rollLoss === "power") this.#slowSyncs();
    await this.#storm();
    while (!this.#isEnough()) {
      world.isCalm = true;
      await world.sleep(1 + this.#random.below(calmMaxMs));
      world.isCalm = false;
      await this.#storm();
    }
    await Promise.all(this.#underWay);
    for (const node of world.cluster.nodes) node.syncLatencyMaxMs = 0;
    world.trace("faults", `healed after ${world.faults}`);
    world.healedMs = world.nowMs;
    world.ticksMended = world.ticks;
  }

  get world(): HistoryWorld {
    return this.#world;
  }

  get #areAllUp(): boolean {
    return this.#world.cluster.nodes.every(({ broker }) => broker !== undefined);
  }

  #isEnough(): boolean {
    const { ticks, faults, operations } = this.#world;
    if (ticks < TICKS_MIN || faults < FAULTS_MIN) return false;
    return operations >= OPERATIONS_MIN || ticks >= LENGTH_FACTOR_MAX * TICKS_MIN;
  }

  /** Does harm some times, one beside the other. */
  async #storm(): Promise<void> {
    const count = STORM_MIN + this.#random.below(STORM_MAX - STORM_MIN);
    this.#losses.look();
    for (let number = 0; number < count; number += 1) {
      await this.#world.sleep(1 + this.#random.below(PAUSE_MAX_MS));
      const isBehindRoll = number === 0 && this.#rollLoss !== undefined;
      const harm = (isBehindRoll ? this.#loseBehindRoll() : this.#harm()).finally(() =>
        this.#underWay.delete(harm),
      );
      this.#underWay.add(harm);
    }
  }

  /** What a node may lose behind a roll: where power takes nothing that counts nothing is tried. */
  get #rollLoss(): RollLoss | undefined {
    const { hasGoneFiles, hasPowerLoss } = this.#kinds;
    if (!this.#world.plan.isRolling) return undefined;
    return hasGoneFiles ? "newest" : hasPowerLoss === "apart" ? "power" : undefined;
  }

  async #loseBehindRoll(): Promise<void> {
    const what = this.#rollLoss;
    if (what !== undefined) await this.#rollLosses.lose(what);
  }

  /** Notes a fault that does something. */
  #does(who: string, what: string): void {
    this.#world.faults += 1;
    this.#world.trace(who, what);
  }

  #delaysOf(_packet: Packet): readonly number[] {
    const { loss, repeat, delay } = this.#noise;
    if (this.#random.chance(loss)) return [];
    const late = () => 1 + (this.#random.chance(delay) ? this.#random.below(DELAY_MAX_MS) : 0);
    return this.#random.chance(repeat) ? [late(), late()] : [late()];
  }

  #harm(): Promise<void> {
    const at = this.#random.below(this.#world.cluster.nodes.length);
    switch (this.#random.below(10)) {
      case 0:
      case 1:
        return this.#down([at], "killed", (one) => this.#world.cluster.kill(one));
      case 2:
        return this.#down([0, 1, 2], "killed", (one) => this.#world.cluster.kill(one));
      case 3:
        return this.#powerLoss(at);
      case 4:
        if (this.#kinds.hasGoneFiles) return this.#loseNewest(at);
        return this.#rollLoss === undefined ? this.#wipe(at) : this.#loseBehindRoll();
      case 5:
        return this.#spoil();
      case 6:
        return this.#slow(at);
      case 7:
        return this.#rot(at);
      default:
        return this.#cutOff(at);
    }
  }

  async #powerLoss(at: number): Promise<void> {
    const keep = (["none", "all", "random"] as const)[this.#random.below(3)]!;
    const { hasPowerLoss } = this.#kinds;
    const node = this.#world.cluster.nodes[at];
    if (hasPowerLoss === "never" || node?.broker === undefined) return;
    const { disk } = node;
    // Meanwhile a folder may go, or the node may end; or another one loses power.
    if (this.#random.chance(0.5)) await syncNames(disk).catch(() => undefined);
    if (node.disk !== disk || (hasPowerLoss === "apart" && !this.#losses.mayLose)) return;
    if (hasPowerLoss === "apart") this.#losses.note();
    await this.#down([at], `powerless, keeps ${keep}`, (one) => this.#world.cluster.crash(one, { keep }));
  }

  async #wipe(at: number): Promise<void> {
    if (!this.#kinds.hasWipe || this.#isWiped || !this.#areAllUp) return;
    this.#isWiped = true;
    await this.#down([at], "wiped", (one) => this.#world.cluster.wipe(one));
  }

  /** Of a partition with one segment that is all its files. */
  async #loseNewest(at: number): Promise<void> {
    if (this.#world.cluster.nodes[at]?.broker === undefined || !this.#losses.mayLose) return;
    this.#losses.note();
    const { world } = this;
    world.end(at, () => world.cluster.kill(at));
    const { disk } = world.cluster.nodes[at]!;
    const files = await messageFilesOf(disk);
    const newest = await removeNewest(disk, files[this.#random.below(files.length)] ?? "");
    if (newest !== undefined) this.#does(`n${at}`, `killed, and ${newest} is gone`);
    await this.#startLater(at);
  }

  /** A bit changes where good bytes follow: such a change is told from a write that was cut short. */
  async #rot(at: number): Promise<void> {
    const { cluster } = this.#world;
    const node = cluster.nodes[at];
    if (!this.#kinds.hasRot || this.#world.rotten !== undefined || node?.broker === undefined) return;
    const { disk } = node;
    const { path, length } = await this.#pickFile(disk).catch((error: unknown) => {
      // It was ended meanwhile, and its disk is another one.
      if (node.disk === disk) throw error;
      return { path: undefined, length: 0 };
    });
    if (path === undefined || length < ROT_LENGTH_MIN || node.disk !== disk) return;
    // Another one may have looked at its disk at the same time: one disk rots, and is replaced.
    if (this.#world.rotten !== undefined) return;
    this.#world.rotten = at;
    const bit = this.#random.below(4 * length);
    this.#does(`n${at}`, `rots ${path} bit ${bit}`);
    node.disk.flipBit(path, bit);
    await this.#world.sleep(1 + this.#random.below(ROT_MAX_MS));
    await this.#replaceDisk(at);
  }

  async #pickFile(disk: SimDisk): Promise<{ path: string | undefined; length: number }> {
    const files = await messageFilesOf(disk);
    const path = files[this.#random.below(files.length)];
    const length = path === undefined ? 0 : ((await disk.stat(path))?.length ?? 0);
    return { path, length };
  }

  /** What an operator does with a disk that rots: the node comes back with an empty one. */
  async #replaceDisk(at: number): Promise<void> {
    while (!this.#areAllUp) await this.#world.sleep(LOOK_INTERVAL_MS);
    this.#world.trace(`n${at}`, "gets a new disk");
    this.#world.end(at, () => this.#world.cluster.wipe(at));
    this.#world.isDiskReplaced = true;
    await this.#world.cluster.openNode(at);
  }

  /** Ends those of the nodes that serve, and starts them again after a while. */
  async #down(nodes: readonly number[], how: string, end: (at: number) => void): Promise<void> {
    const { cluster } = this.#world;
    const ended = nodes.filter((at) => cluster.nodes[at]?.broker !== undefined);
    if (ended.length > 0) this.#does(`n${ended}`, how);
    for (const at of ended) this.#world.end(at, () => end(at));
    await Promise.all(ended.map((at) => this.#startLater(at)));
  }

  async #startLater(at: number): Promise<void> {
    await this.#world.sleep(1 + this.#random.below(DOWN_MAX_MS));
    await this.#world.cluster.openNode(at);
    this.#world.trace(`n${at}`, "started");
  }

  async #cutOff(at: number): Promise<void> {
    const others = [0, 1, 2].filter((one) => one !== at);
    const other = others[this.#random.below(2)];
    const both = others.flatMap((one) => [`${one}-${at}`, `${at}-${one}`]);
    const kinds = [
      both,
      [`${at}-${other}`, `${other}-${at}`],
      [`${at}-${other}`],
      others.map((one) => `${at}-${one}`),
      others.map((one) => `${one}-${at}`),
    ];
    const links = kinds[this.#random.below(kinds.length)] ?? [];
    this.#does("links", `cut ${links}`);
    for (const link of links) this.#cut.add(link);
    await this.#world.sleep(1 + this.#random.below(FAULT_MAX_MS));
    for (const link of links) this.#cut.delete(link);
    this.#world.trace("links", `mended ${links}`);
  }

  async #spoil(): Promise<void> {
    const some = () => this.#random.fraction() * 0.3;
    this.#noise = { loss: some(), repeat: some(), delay: this.#random.fraction() };
    this.#does("links", `spoilt ${JSON.stringify(this.#noise)}`);
    await this.#world.sleep(1 + this.#random.below(FAULT_MAX_MS));
    this.#noise = { loss: 0, repeat: 0, delay: 0 };
    this.#world.trace("links", "clean");
  }

  /** For the whole history: what is not synced when power fails is as much as may be. */
  #slowSyncs(): void {
    for (const [at, node] of this.#world.cluster.nodes.entries()) {
      if (!this.#random.chance(0.6)) continue;
      node.syncLatencyMaxMs = 1 + this.#random.below(SYNC_LATENCY_MAX_MS);
      this.#world.trace(`n${at}`, `slow syncs ${node.syncLatencyMaxMs}`);
    }
  }

  async #slow(at: number): Promise<void> {
    const node = this.#world.cluster.nodes[at];
    if (node === undefined) return;
    node.diskLatencyMaxMs = 1 + this.#random.below(DISK_LATENCY_MAX_MS);
    this.#does(`n${at}`, `slow disk ${node.diskLatencyMaxMs}`);
    await this.#world.sleep(1 + this.#random.below(FAULT_MAX_MS));
    node.diskLatencyMaxMs = 0;
  }
}
