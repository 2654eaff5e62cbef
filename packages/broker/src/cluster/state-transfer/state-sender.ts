import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { GroupAddress } from "@millrace/framing";
import type { Clock, Log, Timer } from "@millrace/platform";
import { STATE_CHUNK_LENGTH_MAX, STATE_PARTS_MAX, type StateMessage } from "@millrace/protocol";
import type { CatchUpPace } from "../catch-up/catch-up-pace.ts";
import { groupName } from "./group-name.ts";
import type { StateWords } from "./state-fetch.ts";
import type { OfferedState, StateSource } from "./state-source.ts";

/** States of partitions given at a time: twice what one node fetches, so that two can be filled. */
const OFFERS_MAX = 8;
/** Milliseconds without a word from the one who fetches until it is taken to be gone. */
const SILENCE_MAX_MS = 30_000;

/** What the one who gives says. */
export type GivenWords = StateWords<"stateManifest"> | StateWords<"stateChunk"> | StateWords<"stateEnd">;

/** What giving works with. */
export interface StateSenderOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** How fast states are given. */
  readonly pace: CatchUpPace;
  say(to: number, group: GroupAddress, words: GivenWords & { readonly transfer: number }): void;
  /** Nothing for a group that this node has no replica of. */
  sourceOf(group: GroupAddress): StateSource | undefined;
}

interface Offer {
  readonly from: number;
  readonly group: GroupAddress;
  readonly transfer: number;
  state: OfferedState | undefined;
  isBusy: boolean;
  timer: Timer | undefined;
}

/** The states that this node gives to others that lag behind. */
export class StateSender {
  readonly #options: StateSenderOptions;
  readonly #offers = new Map<string, Offer>();

  constructor(options: StateSenderOptions) {
    this.#options = options;
  }

  /** What the one who fetches says. */
  receive(from: number, group: GroupAddress, message: StateMessage): void {
    const { transfer } = message;
    const offer = this.#offers.get(keyOf({ from, group, transfer }));
    if (message.kind === "stateRequest" && offer === undefined) {
      this.#begin({ from, group, transfer }, message.op);
    } else if (message.kind === "stateEnd" && offer !== undefined) this.#close(offer);
    else if (message.kind === "stateChunkRequest") {
      if (offer === undefined) this.#options.say(from, group, { ...GONE, transfer });
      else this.#giveInTurn(offer, message);
    }
  }

  /** Lets go of everything that is kept for others. */
  stop(): void {
    for (const offer of [...this.#offers.values()]) this.#close(offer);
  }

  #begin(who: Pick<Offer, "from" | "group" | "transfer">, op: number): void {
    this.#closeEarlier(who);
    const source = this.#options.sourceOf(who.group);
    const isFull = this.#offers.size >= OFFERS_MAX && who.group.kind === "partition";
    if (source === undefined || isFull) {
      this.#options.say(who.from, who.group, { ...GONE, transfer: who.transfer });
      return;
    }
    const offer: Offer = { ...who, state: undefined, isBusy: false, timer: undefined };
    this.#offers.set(keyOf(who), offer);
    this.#touch(offer);
    void this.#whileBusy(offer, () => this.#describe(offer, source, op));
  }

  /** Who asks for a group anew has given up what he began before. */
  #closeEarlier({ from, group }: Pick<Offer, "from" | "group">): void {
    const name = groupName(group);
    for (const offer of [...this.#offers.values()]) {
      if (offer.from === from && groupName(offer.group) === name) this.#close(offer);
    }
  }

  async #describe(offer: Offer, source: StateSource, op: number): Promise<void> {
    const state = await source.offer();
    if (state === undefined || state.op < op || !this.#isThere(offer)) {
      await state?.close();
      throw new CodedError(ErrorCode.TransientNotAccepted, "The state does not reach so far yet.");
    }
    offer.state = state;
    const { checksum, parts } = state;
    if (parts.length > STATE_PARTS_MAX) {
      const text = `The state has ${parts.length} parts, more than ${STATE_PARTS_MAX}.`;
      throw new CodedError(ErrorCode.FrameTooLarge, text);
    }
    this.#say(offer, { kind: "stateManifest", op: state.op, checksum, parts });
  }

  /** One chunk at a time: it may be asked for again while it waits for its turn, or is on its way. */
  #giveInTurn(offer: Offer, asked: Extract<StateMessage, { kind: "stateChunkRequest" }>): void {
    this.#touch(offer);
    const { state } = offer;
    if (offer.isBusy || state === undefined) return;
    offer.isBusy = true;
    const done = () => this.#done(offer);
    const { part, position } = asked;
    this.#options.pace.give(
      () => this.#whileBusy(offer, () => this.#giveChunk(offer, state, { part, position })),
      done,
    );
  }

  async #giveChunk(
    offer: Offer,
    state: OfferedState,
    { part: at, position }: { readonly part: number; readonly position: number },
  ): Promise<void> {
    if (!this.#isThere(offer)) return;
    const part = state.parts[at];
    if (part === undefined || position >= part.length) {
      throw new CodedError(ErrorCode.ReplicaFrameInvalid, "There are no such bytes in the state.");
    }
    const length = Math.min(STATE_CHUNK_LENGTH_MAX, part.length - position);
    const bytes = await state.read(part, { position, length });
    if (!this.#isThere(offer)) return;
    this.#options.pace.gave(length);
    this.#say(offer, { kind: "stateChunk", part: at, position, bytes });
  }

  /** What goes wrong ends the transfer, on both sides. */
  async #whileBusy(offer: Offer, work: () => Promise<void>): Promise<void> {
    offer.isBusy = true;
    try {
      await work();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      const facts = { group: groupName(offer.group), to: offer.from, error };
      if (error.code !== ErrorCode.TransientNotAccepted) {
        this.#options.log.warn("The state of a group could not be given to another node.", facts);
      }
      this.#say(offer, { kind: "stateEnd", code: error.code });
      this.#close(offer);
    } finally {
      await this.#done(offer);
    }
  }

  async #done(offer: Offer): Promise<void> {
    offer.isBusy = false;
    if (!this.#isThere(offer)) await offer.state?.close();
  }

  #close(offer: Offer): void {
    offer.timer?.cancel();
    this.#offers.delete(keyOf(offer));
    if (!offer.isBusy) void offer.state?.close();
  }

  #touch(offer: Offer): void {
    offer.timer?.cancel();
    offer.timer = this.#options.clock.setTimer(SILENCE_MAX_MS, () => this.#close(offer));
  }

  #isThere(offer: Offer): boolean {
    return this.#offers.get(keyOf(offer)) === offer;
  }

  #say({ from, group, transfer }: Offer, words: GivenWords): void {
    this.#options.say(from, group, { ...words, transfer });
  }
}

const GONE = { kind: "stateEnd", code: ErrorCode.TransientNotAccepted } as const;

function keyOf({ from, group, transfer }: Pick<Offer, "from" | "group" | "transfer">): string {
  return `${from}:${transfer}:${groupName(group)}`;
}
