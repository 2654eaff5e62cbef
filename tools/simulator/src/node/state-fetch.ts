import type { GroupHost } from "./group-host.ts";
import type { Checkpoint } from "./group-store.ts";

/** A peer that does not answer is asked again, or another one, after so many ticks. */
const RETRY_TICKS = 50;

/**
 * Fetches a peer's state for a replica whose peers hold the log it lacks no longer. It asks one after the
 * other until a state is installed that reaches as far as was asked, and does not go back.
 */
export class StateFetch {
  readonly #host: GroupHost;
  #from = 0;
  #op = 0;
  #ticksLeft = 0;
  #isWanted = false;
  #isInstalling = false;

  constructor(host: GroupHost) {
    this.#host = host;
  }

  begin(from: number, op: number): void {
    if (this.#isWanted && this.#op >= op && this.#ticksLeft > 0) return;
    this.#from = from;
    this.#op = op;
    this.#isWanted = true;
    this.#ask();
  }

  tick(): void {
    if (!this.#isWanted) return;
    this.#ticksLeft -= 1;
    if (this.#ticksLeft <= 0) {
      this.#from = (this.#from + 1) % this.#host.node.world.plan.replicaCount;
      this.#ask();
    }
  }

  /** Installs a state that is wanted. */
  onState(state: Checkpoint): void {
    const { node } = this.#host;
    if (!this.#isWanted || this.#isInstalling || !this.#isOfUse(state)) return;
    this.#isInstalling = true;
    node.device.sync(() =>
      node.give(() => {
        this.#isInstalling = false;
        if (!this.#host.isAlive || !this.#isOfUse(state)) return;
        this.#isWanted = false;
        this.#host.install(state);
      }),
    );
  }

  #isOfUse({ log }: Checkpoint): boolean {
    return log.op >= this.#op && log.op >= this.#host.log.op;
  }

  #ask(): void {
    const { node, group } = this.#host;
    this.#ticksLeft = RETRY_TICKS;
    if (this.#from === node.index) return;
    node.sendToNode(this.#from, (peer) => peer.host(group).onStateRequest(node.index, this.#op));
  }
}
