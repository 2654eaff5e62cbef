import type { Chance } from "../engine/chance.ts";
import type { EventQueue } from "../engine/event-queue.ts";

/** How fast a node's disk is. */
export interface DevicePlan {
  readonly writeMeanMicros: number;
  readonly syncMeanMicros: number;
}

/** The disk of one node: says how long its next call takes. One slow disk makes all groups of a node slow. */
export class Device {
  /** Every call takes so many times longer; 1 for as planned. */
  slowness = 1;
  readonly #queue: EventQueue;
  readonly #chance: Chance;
  readonly #plan: DevicePlan;

  constructor(queue: EventQueue, chance: Chance, plan: DevicePlan) {
    this.#queue = queue;
    this.#chance = chance;
    this.#plan = plan;
  }

  get chance(): Chance {
    return this.#chance;
  }

  get nowMicros(): number {
    return this.#queue.nowMicros;
  }

  write(done: () => void): void {
    this.#queue.after(this.#slowed(this.#plan.writeMeanMicros), done);
  }

  sync(done: () => void): void {
    this.#queue.after(this.#slowed(this.#plan.syncMeanMicros), done);
  }

  /** For what a journal lets wait before it syncs by itself. */
  later(delayMicros: number, done: () => void): void {
    this.#queue.after(delayMicros, done);
  }

  #slowed(meanMicros: number): number {
    return this.slowness * this.#chance.exponential(meanMicros);
  }
}
