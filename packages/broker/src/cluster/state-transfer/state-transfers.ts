import type { GroupAddress } from "@millrace/framing";
import type { Clock, Log, Metrics } from "@millrace/platform";
import type { StateMessage } from "@millrace/protocol";
import type { CatchUpPace } from "../catch-up/catch-up-pace.ts";
import { type FetchProgress, StateFetcher, type StateWish } from "./state-fetcher.ts";
import { StateSender } from "./state-sender.ts";
import type { StateSource } from "./state-source.ts";

/** What transfers of states work with. */
export interface StateTransfersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** This node's replica id. */
  readonly replica: number;
  /** Any number; another one at every start. */
  readonly seed: number;
  /** How fast states are given. */
  readonly pace: CatchUpPace;
  send(to: number, group: GroupAddress, message: StateMessage): void;
}

/** The states of groups on their way between this node and the others, in both directions. */
export class StateTransfers {
  readonly #fetcher: StateFetcher;
  readonly #sender: StateSender;
  #sourceOf: (group: GroupAddress) => StateSource | undefined = () => undefined;

  constructor(options: StateTransfersOptions) {
    const { clock, log, metrics, replica, pace, send } = options;
    const common = { view: 0, replica };
    this.#fetcher = new StateFetcher(
      { clock, log, metrics, say: (to, group, words) => send(to, group, { ...words, ...common }) },
      options.seed,
    );
    this.#sender = new StateSender({
      ...{ clock, log, pace, sourceOf: (group) => this.#sourceOf(group) },
      say: (to, group, words) => send(to, group, { ...words, ...common }),
    });
  }

  /** Gives states to others from now on. */
  serve(sourceOf: (group: GroupAddress) => StateSource | undefined): void {
    this.#sourceOf = sourceOf;
  }

  /** See `StateFetcher.begin`. */
  fetch(wish: StateWish): void {
    this.#fetcher.begin(wish);
  }

  /** See `StateFetcher.isFetching`. */
  isFetching(group: GroupAddress): boolean {
    return this.#fetcher.isFetching(group);
  }

  /** See `StateFetcher.progressOf`. */
  progressOf(group: GroupAddress): FetchProgress {
    return this.#fetcher.progressOf(group);
  }

  /** The group's state is not wanted any more. */
  cancel(group: GroupAddress): void {
    this.#fetcher.cancel(group);
  }

  /** A message of another node. What it holds is lent for the call. */
  receive(from: number, group: GroupAddress, message: StateMessage): void {
    switch (message.kind) {
      case "stateRequest":
      case "stateChunkRequest":
        this.#sender.receive(from, group, message);
        break;
      case "stateManifest":
      case "stateChunk":
        this.#fetcher.receive(from, group, message);
        break;
      case "stateEnd":
        this.#sender.receive(from, group, message);
        this.#fetcher.receive(from, group, message);
    }
  }

  /** A node is gone. */
  onPeerDown(peer: number): void {
    this.#fetcher.onPeerDown(peer);
  }

  /** Ends everything; settles when nothing is written any more. */
  async stop(): Promise<void> {
    this.#sender.stop();
    await this.#fetcher.stop();
  }
}
