import type { Chance } from "../engine/chance.ts";
import type { EventQueue } from "../engine/event-queue.ts";

/** How a network behaves on a day without faults. */
export interface NetworkPlan {
  /** Every packet takes this long, and an exponentially distributed rest. */
  readonly delayMinMicros: number;
  readonly delayMeanMicros: number;
  /** Chances per packet: it is lost; it comes again; each of it is late by up to `lateMaxMicros`. */
  readonly loss: number;
  readonly repeat: number;
  readonly late: number;
  readonly lateMaxMicros: number;
  /** Packets of one link keep their order, as those of a TCP connection do. */
  readonly isOrdered: boolean;
}

/** Packets on their way over one link; beyond it the newest is dropped, as a bounded send queue does. */
const LINK_PACKETS_MAX = 1024;

interface Link {
  isCut: boolean;
  /** Extra delay of a clogged link. */
  slowMicros: number;
  lastArrivalMicros: number;
  packets: number;
}

/**
 * Links between endpoints: nodes 0..n-1, then clients. Loses, repeats, delays and reorders; cut links carry
 * nothing, and what is on its way over a link when it is cut is lost with it.
 */
export class SimNetwork {
  readonly #queue: EventQueue;
  readonly #chance: Chance;
  readonly #links = new Map<number, Link>();
  /** How packets fare from now on. */
  plan: NetworkPlan;

  constructor(queue: EventQueue, chance: Chance, plan: NetworkPlan) {
    this.#queue = queue;
    this.#chance = chance;
    this.plan = plan;
  }

  /** Hands a packet over; `deliver` is called when it arrives: once, twice or never. */
  send(from: number, to: number, deliver: () => void): void {
    const link = this.#link(from, to);
    if (link.isCut || link.packets >= LINK_PACKETS_MAX || this.#chance.chance(this.plan.loss)) return;
    this.#carry(link, deliver);
    if (this.#chance.chance(this.plan.repeat)) this.#carry(link, deliver);
  }

  /** Cuts one direction of a link, or joins it again. */
  cut(from: number, to: number, isCut: boolean): void {
    this.#link(from, to).isCut = isCut;
  }

  /** Makes one direction of a link slower; 0 for as planned. */
  slow(from: number, to: number, slowMicros: number): void {
    this.#link(from, to).slowMicros = slowMicros;
  }

  /** Joins and clears every link and goes on by another plan. */
  heal(plan: NetworkPlan): void {
    this.plan = plan;
    for (const link of this.#links.values()) {
      link.isCut = false;
      link.slowMicros = 0;
    }
  }

  #carry(link: Link, deliver: () => void): void {
    const { delayMinMicros, delayMeanMicros, late, lateMaxMicros, isOrdered } = this.plan;
    const lateMicros = this.#chance.chance(late) ? this.#chance.fraction() * lateMaxMicros : 0;
    const delay = delayMinMicros + this.#chance.exponential(delayMeanMicros) + link.slowMicros + lateMicros;
    let atMicros = this.#queue.nowMicros + delay;
    if (isOrdered) atMicros = Math.max(atMicros, link.lastArrivalMicros);
    link.lastArrivalMicros = atMicros;
    link.packets += 1;
    this.#queue.at(atMicros, () => {
      link.packets -= 1;
      if (!link.isCut) deliver();
    });
  }

  #link(from: number, to: number): Link {
    const key = from * 65_536 + to;
    let link = this.#links.get(key);
    if (link === undefined) {
      link = { isCut: false, slowMicros: 0, lastArrivalMicros: 0, packets: 0 };
      this.#links.set(key, link);
    }
    return link;
  }
}
