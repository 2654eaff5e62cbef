import type { SimRandom } from "@millrace/platform/sim";
import type { Losses } from "./history-losses.ts";
import { removeNewest } from "./history-message-files.ts";
import type { HistoryWorld } from "./history-world.ts";

/** What such a loss is done with. */
export interface RollLossTools {
  readonly world: HistoryWorld;
  readonly random: SimRandom;
  readonly losses: Losses;
  /** Links that carry nothing, as "from-to". */
  readonly cut: Set<string>;
  /** Notes a fault that does something. */
  does(who: string, what: string): void;
}

/** What a node loses: what was not synced, or all files of a partition's newest segment. */
export type RollLoss = "power" | "newest";

/** Longest time until a segment begins. */
const ROLL_MAX_MS = 6000;
/** Between that and the loss: at once, while files are synced, or with messages in the segment. */
const BEHIND_MAX_MS = { power: [1, 15, 150, 1000], newest: [15, 150, 1000, 1000] } as const;
const DISK_LATENCY_MAX_MS = 20;
const DOWN_MAX_MS = 1500;
/** For so long the node that has everything is away: for an election without it. */
const AWAY_MIN_MS = 2500;
const AWAY_MAX_MS = 9000;

/**
 * A node loses something right behind the beginning of a segment, when its word weighs most: of the others
 * one was cut off meanwhile and lacks what was acknowledged, the one that has it is away when the first comes
 * back. Where that one says that it has what it lost, or that it never had it, something acknowledged goes.
 */
export class RollLosses {
  readonly #tools: RollLossTools;
  #isUnderWay = false;

  constructor(tools: RollLossTools) {
    this.#tools = tools;
  }

  /** Nothing when another one is under way, or more than one node would have lost something. */
  async lose(what: RollLoss): Promise<void> {
    const { losses, random } = this.#tools;
    if (this.#isUnderWay || !losses.mayLose) return;
    this.#isUnderWay = true;
    const at = random.below(3);
    const behind = (at + 1 + random.below(2)) % 3;
    await this.#loseAt(what, { at, behind, ahead: 3 - at - behind });
    this.#isUnderWay = false;
  }

  async #loseAt(what: RollLoss, nodes: { at: number; behind: number; ahead: number }): Promise<void> {
    const { world, random } = this.#tools;
    const { at, behind, ahead } = nodes;
    const node = world.cluster.nodes[at]!;
    const isBehindCut = random.chance(0.75);
    if (isBehindCut) this.#cutOff(behind);
    if (random.chance(0.3)) node.diskLatencyMaxMs = 1 + random.below(DISK_LATENCY_MAX_MS);
    const rolled = await this.#roll(at, BEHIND_MAX_MS[what]);
    const hasLost = rolled !== undefined && (await this.#lose(what, at, rolled));
    node.diskLatencyMaxMs = 0;
    if (isBehindCut) this.#mend(behind);
    if (!hasLost) return;
    if (isBehindCut) this.#cutOff(ahead);
    await world.sleep(1 + random.below(DOWN_MAX_MS));
    await world.cluster.openNode(at);
    world.trace(`n${at}`, "started");
    if (!isBehindCut) return;
    await world.sleep(AWAY_MIN_MS + random.below(AWAY_MAX_MS - AWAY_MIN_MS));
    this.#mend(ahead);
  }

  /** Waits until a node begins a segment behind another, and a little longer; nothing when it does not. */
  async #roll(at: number, behindMaxMs: readonly number[]): Promise<string | undefined> {
    const { world, random } = this.#tools;
    const path = await new Promise<string | undefined>((resolve) => {
      const end = world.rolls.onNext(at, resolve);
      void world.sleep(ROLL_MAX_MS).then(() => {
        end();
        resolve(undefined);
      });
    });
    if (path !== undefined) {
      await world.sleep(random.fraction() * behindMaxMs[random.below(behindMaxMs.length)]!);
    }
    return path;
  }

  /** Ends the node with its loss, unless it has ended or another one has lost something. */
  async #lose(what: RollLoss, at: number, rolled: string): Promise<boolean> {
    const { world, random, losses, does } = this.#tools;
    const { cluster } = world;
    const keep = random.chance(0.5) ? "none" : "random";
    if (cluster.nodes[at]?.broker === undefined || !losses.mayLose) return false;
    losses.note();
    world.rollLosses += 1;
    if (what === "power") {
      does(`n${at}`, `powerless behind a roll to ${rolled}, keeps ${keep}`);
      world.end(at, () => cluster.crash(at, { keep }));
      return true;
    }
    world.end(at, () => cluster.kill(at));
    const newest = await removeNewest(cluster.nodes[at]!.disk, rolled);
    does(`n${at}`, `killed behind a roll, and ${newest ?? "nothing"} is gone`);
    return true;
  }

  #linksOf(at: number): string[] {
    return [0, 1, 2].filter((one) => one !== at).flatMap((one) => [`${one}-${at}`, `${at}-${one}`]);
  }

  #cutOff(at: number): void {
    this.#tools.does("links", `cut ${this.#linksOf(at)}`);
    for (const link of this.#linksOf(at)) this.#tools.cut.add(link);
  }

  #mend(at: number): void {
    for (const link of this.#linksOf(at)) this.#tools.cut.delete(link);
    this.#tools.world.trace("links", `mended ${this.#linksOf(at)}`);
  }
}
