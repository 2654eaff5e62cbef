import type { ReplicaMessage } from "@millrace/vsr";

/**
 * Ops between a replica's log and the primary's from which on it is far behind: one pipeline, and a round of
 * repair, so that one who has come this near has the rest after the next round.
 */
const NEAR_OPS = 128;
/** Ticks that what a replica said is believed: 10 s. One that says no more may have what others gave it. */
const BELIEVED_TICKS = 1000;
/** Ticks between two words to a replica how far there is to go: in the meantime it gets a round of repair. */
const TELL_TICKS = 5;

/** Where this replica stands. */
export interface OwnPlace {
  /** Its last op. */
  readonly op: number;
  readonly ticks: number;
}

interface Asked {
  /** Last op that it may have. */
  readonly op: number;
  readonly ticks: number;
  toldTicks: number;
}

/**
 * Which replicas of a group are far behind, as far as this one knows: a replica keeps no op whose forerunner
 * it lacks, so new ones would be sent to it in vain.
 *
 * A replica of which nothing is known is not far behind. All of this decides only what is sent at first: what
 * is sent again, and what a replica asks for, it gets.
 */
export class LaggingPeers {
  readonly #asked = new Map<number, Asked>();

  /** A replica asks for an op, which it lacks. @returns true when it is far behind */
  asks(from: number, op: number, own: OwnPlace): boolean {
    const isFar = own.op - op >= NEAR_OPS;
    const toldTicks = this.#asked.get(from)?.toldTicks ?? Number.NEGATIVE_INFINITY;
    if (isFar) this.#asked.set(from, { op: op - 1, ticks: own.ticks, toldTicks });
    else this.#asked.delete(from);
    return isFar;
  }

  /** A replica that was far behind may be told the commit number, so that it goes on asking. */
  mayTell(to: number, { ticks }: OwnPlace): boolean {
    const asked = this.#asked.get(to);
    if (asked === undefined || ticks - asked.toldTicks < TELL_TICKS) return false;
    asked.toldTicks = ticks;
    return true;
  }

  /** A replica says what it has. */
  hears(from: number, message: ReplicaMessage, own: OwnPlace): void {
    const asked = this.#asked.get(from);
    if (asked === undefined || message.kind !== "prepareOk" || message.op <= asked.op) return;
    const { op } = message;
    if (own.op - op < NEAR_OPS) this.#asked.delete(from);
    else this.#asked.set(from, { ...asked, op, ticks: own.ticks });
  }

  /** True when a replica has no use for new ops yet. */
  isFarBehind(to: number, own: OwnPlace): boolean {
    const asked = this.#asked.get(to);
    if (asked === undefined) return false;
    if (own.ticks - asked.ticks <= BELIEVED_TICKS) return own.op - asked.op > NEAR_OPS;
    this.#asked.delete(to);
    return false;
  }
}
