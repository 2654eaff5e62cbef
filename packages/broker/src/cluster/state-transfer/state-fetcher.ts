import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { GroupAddress } from "@millrace/framing";
import type { Clock, Log, Metrics } from "@millrace/platform";
import type { StateMessage } from "@millrace/protocol";
import { groupName } from "./group-name.ts";
import { type AskedWords, StateFetch } from "./state-fetch.ts";
import type { StateSink } from "./state-source.ts";
import { declareTransferMetrics, type TransferMetrics } from "./transfer-metrics.ts";

/**
 * States fetched at a time, that of the metadata besides: each has one chunk of 256 KiB on its way. The
 * others ask again in a second.
 */
const FETCHES_MAX = 4;
/** Milliseconds until a group whose transfer failed tries again; twice as long after each further failure. */
const RETRY_DELAY_MS = 1000;
const RETRY_DELAY_MAX_MS = 60_000;
/** Milliseconds more until the node is asked again that did not give it: the others come first. */
const SAME_NODE_DELAY_MS = 3000;
/** Transfers are told apart by a number of 32 bits. */
const TRANSFER_MAX = 0xffff_ffff;

/** What fetching works with. */
export interface StateFetcherOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  say(to: number, group: GroupAddress, words: AskedWords & { readonly transfer: number }): void;
}

/** A state to fetch. */
export interface StateWish {
  readonly group: GroupAddress;
  /** The node to ask. */
  readonly from: number;
  /** It has to be as of this op or a later one. */
  readonly op: number;
  sink(): StateSink;
}

/** How often a group's state could not be fetched once it was told, and last from whom. */
interface Failure {
  readonly count: number;
  readonly from: number;
  readonly untilMs: number;
  readonly reason: CodedError;
}

/** How far it has got with a group's state. */
export interface FetchProgress {
  /** Transfers in a row that were told of a state and did not end with it in place. */
  readonly failed: number;
  /** Why the last one did not, told or not. */
  readonly reason: CodedError | undefined;
  /** Bytes of the transfer under way that came. */
  readonly length: number;
}

interface Running {
  readonly plane: GroupAddress["kind"];
  readonly fetch: StateFetch;
  readonly from: number;
  readonly transfer: number;
  readonly over: Promise<void>;
}

/** The states that this node fetches from others: of each group one at a time, of all groups a few. */
export class StateFetcher {
  readonly #options: StateFetcherOptions;
  readonly #running = new Map<string, Running>();
  readonly #failures = new Map<string, Failure>();
  readonly #metrics: Readonly<Record<GroupAddress["kind"], TransferMetrics>>;
  #lastTransfer: number;
  #isStopped = false;

  /** @param firstTransfer  any number; another one at every start, so that nothing old is taken for new */
  constructor(options: StateFetcherOptions, firstTransfer: number) {
    this.#options = options;
    this.#lastTransfer = firstTransfer % TRANSFER_MAX;
    this.#metrics = declareTransferMetrics(options.metrics, (plane) => this.#countOf(plane));
  }

  #countOf(plane: GroupAddress["kind"]): number {
    return [...this.#running.values()].filter((running) => running.plane === plane).length;
  }

  /** Begins to fetch, unless it is fetched already, too much is, or the last failure is too fresh. */
  begin(wish: StateWish): void {
    const name = groupName(wish.group);
    const { clock } = this.#options;
    const isFull = this.#running.size >= FETCHES_MAX && wish.group.kind === "partition";
    const isBusy = isFull || this.#running.has(name);
    if (this.#isStopped || isBusy || this.#isEarly(name, wish.from)) return;
    this.#lastTransfer = (this.#lastTransfer + 1) % TRANSFER_MAX;
    const transfer = this.#lastTransfer;
    const { from, op, group } = wish;
    const say = (words: AskedWords) => this.#options.say(from, group, { ...words, transfer });
    const plane = group.kind;
    const came = (length: number) => this.#metrics[plane].bytes.add(length);
    const fetch = new StateFetch({ clock, op, sink: wish.sink(), say, came });
    const over = this.#run(name, wish, fetch);
    this.#running.set(name, { plane, fetch, from, transfer, over });
  }

  /** True while a state of the group is on its way. */
  isFetching(group: GroupAddress): boolean {
    return this.#running.has(groupName(group));
  }

  /** How far it has got with the state of a group. */
  progressOf(group: GroupAddress): FetchProgress {
    const name = groupName(group);
    const failure = this.#failures.get(name);
    const length = this.#running.get(name)?.fetch.length ?? 0;
    return { failed: failure?.count ?? 0, reason: failure?.reason, length };
  }

  /** What another node says in a transfer that this one began. */
  receive(from: number, group: GroupAddress, message: StateMessage): void {
    const running = this.#running.get(groupName(group));
    if (running?.from === from && running.transfer === message.transfer) running.fetch.receive(message);
  }

  /** The group is fetched no longer. */
  cancel(group: GroupAddress): void {
    const name = groupName(group);
    this.#failures.delete(name);
    this.#running.get(name)?.fetch.giveUp(stopped());
  }

  /** A node is gone. */
  onPeerDown(peer: number): void {
    for (const { from, fetch } of this.#running.values()) {
      if (from === peer) {
        fetch.cancel(new CodedError(ErrorCode.TransientNotAccepted, "The other node is not connected."));
      }
    }
  }

  /** Ends everything; settles when nothing is written any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const { fetch } of this.#running.values()) fetch.giveUp(stopped());
    await Promise.all([...this.#running.values()].map(({ over }) => over));
  }

  async #run(name: string, { from, op, group }: StateWish, fetch: StateFetch): Promise<void> {
    const { log, clock } = this.#options;
    const facts = { group: name, from, op };
    const startMs = clock.monotonicMs();
    log.info(
      "The state of a group is fetched from another node: operations do not bring this one up to it.",
      facts,
    );
    const ended = () => ({
      ...{ ...facts, length: fetch.length, held: fetch.heldLength, whole: fetch.wholeLength },
      durationMs: Math.round(clock.monotonicMs() - startMs),
    });
    try {
      await fetch.run();
      this.#failures.delete(name);
      this.#metrics[group.kind].ended.add(1);
      log.info("The state of a group was fetched.", ended());
    } catch (error) {
      if (!isCodedError(error)) throw error;
      this.#noteFailure(name, { from, reason: error, isCostly: fetch.hasManifest });
      this.#metrics[group.kind].failed.add(1);
      const text = "The state of a group could not be fetched; another node is asked.";
      if (error.code === ErrorCode.TransientNotAccepted) log.info(text, { ...ended(), error });
      else if (!this.#isStopped) log.warn(text, { ...ended(), error });
    } finally {
      this.#running.delete(name);
    }
  }

  #isEarly(name: string, from: number): boolean {
    const failure = this.#failures.get(name);
    if (failure === undefined) return false;
    const untilMs = failure.untilMs + (failure.from === from ? SAME_NODE_DELAY_MS : 0);
    return this.#options.clock.monotonicMs() < untilMs;
  }

  /** What was told and failed may fail again, and costs as much; who told nothing has cost nothing. */
  #noteFailure(
    name: string,
    failure: Pick<Failure, "from" | "reason"> & { readonly isCostly: boolean },
  ): void {
    const { from, reason, isCostly } = failure;
    const count = (this.#failures.get(name)?.count ?? 0) + (isCostly ? 1 : 0);
    const delayMs = isCostly ? Math.min(RETRY_DELAY_MAX_MS, RETRY_DELAY_MS * 2 ** (count - 1)) : 0;
    const untilMs = this.#options.clock.monotonicMs() + delayMs;
    this.#failures.set(name, { count, from, untilMs, reason });
  }
}

function stopped(): CodedError {
  return new CodedError(ErrorCode.ShuttingDown, "The state is not wanted any more.");
}
