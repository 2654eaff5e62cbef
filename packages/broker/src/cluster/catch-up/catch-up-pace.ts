import { Fifo } from "../../queues/fifo.ts";

/**
 * Bytes a tick that nodes behind get whatever clients write, 32 MiB a second: a node 1 GiB behind has it in
 * some 30 s. Clients that write more than 64 MiB a second notice nothing of it, and others wait for the round
 * trips of their requests more than for the disk.
 */
const FLOOR_LENGTH = 335_544;
/**
 * Bytes they get for each that clients write, the longer they have wanted more the higher: clients come
 * first, and at the last a node comes nearer however much is written.
 */
const SHARES = [0.5, 1, 1.5] as const;
/** Ticks that each of these lasts: 15 s, in which most nodes have what they lack. */
const TICKS_PER_SHARE = 1500;
/** Ticks without a write of a client until nodes behind get all there is: 200 ms. */
const QUIET_TICKS = 20;
/** Bytes that may be left from the ticks before: those of a tick or two that came late. */
const LEFT_LENGTH_MAX = 1_048_576;
/** The weight of one tick in the mean of what clients write: sends come in bursts. */
const TICK_WEIGHT = 1 / 16;
/** What is read for others at a time: enough to keep a disk busy, little memory. */
const AT_ONCE_MAX = 4;
/** Requests that wait: a round of repair, 128, of each of 64 partitions. Others are lost, and come again. */
const WAITING_MAX = 8192;
/** Ticks a request waits: whoever asked asks another node after 100. */
const WAITS_TICKS_MAX = 90;

interface Waiting {
  readonly work: () => Promise<void> | undefined;
  readonly dropped: (() => void) | undefined;
  readonly sinceTick: number;
}

/**
 * How fast this node gives other nodes what they lack: as fast as it can while no client writes, and a share
 * of what clients write while they do. One for all groups and all nodes.
 *
 * Time is in ticks of 10 ms.
 */
export class CatchUpPace {
  /** Ticks since the start. */
  ticks = 0;
  readonly #gave: (length: number) => void;
  readonly #waiting = new Fifo<Waiting>();
  #underWay = 0;
  #budget = LEFT_LENGTH_MAX;
  #written = 0;
  /** Mean of the bytes that clients wrote in a tick. */
  #writtenMean = 0;
  #quietTicks = QUIET_TICKS;
  /** Ticks in which something waited for its share. */
  #shortTicks = 0;
  #isStopped = false;

  /** @param gave  hears of all bytes that were given */
  constructor(gave: (length: number) => void = () => {}) {
    this.#gave = gave;
  }

  /** Clients have written so many bytes, in whatever group. */
  wrote(length: number): void {
    this.#written += length;
  }

  /** So many bytes have gone to a node that is behind. */
  gave(length: number): void {
    this.#gave(length);
    if (!this.#isQuiet) this.#budget -= length;
  }

  /**
   * Does some work for a node that is behind when it is its turn, at once if it can. The work says by `gave`
   * what it took.
   * @param dropped  called instead when it is not done: too much waits, it waited too long, or all ends
   */
  give(work: () => Promise<void> | undefined, dropped?: () => void): void {
    if (this.#isStopped || this.#waiting.count >= WAITING_MAX) dropped?.();
    else {
      this.#waiting.push({ work, dropped, sinceTick: this.ticks });
      this.#goOn();
    }
  }

  /** 10 ms pass. */
  tick(): void {
    this.ticks += 1;
    this.#quietTicks = this.#written > 0 ? 0 : this.#quietTicks + 1;
    this.#writtenMean += (this.#written - this.#writtenMean) * TICK_WEIGHT;
    this.#written = 0;
    this.#countShort();
    const refill = Math.max(FLOOR_LENGTH, this.#share * this.#writtenMean);
    this.#budget = this.#isQuiet ? LEFT_LENGTH_MAX : Math.min(LEFT_LENGTH_MAX, this.#budget) + refill;
    this.#dropOld();
    this.#goOn();
  }

  /** Nothing that waits is done. */
  stop(): void {
    this.#isStopped = true;
    for (const { dropped } of this.#waiting.drain()) dropped?.();
  }

  get #isQuiet(): boolean {
    return this.#quietTicks >= QUIET_TICKS;
  }

  get #share(): number {
    const step = Math.min(SHARES.length - 1, Math.floor(this.#shortTicks / TICKS_PER_SHARE));
    return SHARES[step] ?? 1;
  }

  /** A node that wants less than it may get has come near: the next one begins at the smallest share. */
  #countShort(): void {
    if (this.#waiting.count > 0) this.#shortTicks += 1;
    else if (this.#budget > LEFT_LENGTH_MAX) this.#shortTicks = Math.max(0, this.#shortTicks - 1);
  }

  #dropOld(): void {
    for (let first = this.#waiting.peek(); first !== undefined; first = this.#waiting.peek()) {
      if (this.ticks - first.sinceTick < WAITS_TICKS_MAX) return;
      this.#waiting.shift();
      first.dropped?.();
    }
  }

  #goOn(): void {
    while (this.#underWay < AT_ONCE_MAX && (this.#isQuiet || this.#budget > 0)) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const done = next.work();
      if (done === undefined) continue;
      this.#underWay += 1;
      void done.finally(() => this.#ended());
    }
  }

  #ended(): void {
    this.#underWay -= 1;
    this.#goOn();
  }
}
