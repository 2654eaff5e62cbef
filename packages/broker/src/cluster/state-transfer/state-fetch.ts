import { CodedError, ErrorCode } from "@millrace/errors";
import type { Clock, Timer } from "@millrace/platform";
import type { StateMessage, StatePart } from "@millrace/protocol";
import type { StateSink } from "./state-source.ts";

/** Milliseconds until a message without an answer is sent again: a local disk reads a chunk in one. */
const ANSWER_TIMEOUT_MS = 2000;
/** Times a message is sent: who says nothing for ten seconds is given up. */
const TRIES_MAX = 5;

/** A message of the transfer without what is the same in all of them. */
export type StateWords<Kind extends StateMessage["kind"] = StateMessage["kind"]> = Omit<
  Extract<StateMessage, { kind: Kind }>,
  "view" | "replica" | "transfer"
>;

/** What one transfer works with. */
export interface StateFetchOptions {
  readonly clock: Clock;
  /** The state has to be as of this op or a later one. */
  readonly op: number;
  readonly sink: StateSink;
  say(words: AskedWords): void;
  /** Hears of bytes that came. */
  came(length: number): void;
}

/** What the one who fetches says. */
export type AskedWords =
  | StateWords<"stateRequest">
  | StateWords<"stateChunkRequest">
  | StateWords<"stateEnd">;

type StateManifestMessage = Extract<StateMessage, { kind: "stateManifest" }>;
type StateChunkMessage = Extract<StateMessage, { kind: "stateChunk" }>;
type Answer = StateManifestMessage | StateChunkMessage;

interface Awaited {
  readonly fits: (message: StateMessage) => message is Answer;
  readonly came: (answer: Answer | undefined) => void;
  readonly failed: (error: CodedError) => void;
  readonly timer: Timer;
}

/**
 * One group's state on its way from another node to this one: a manifest, then chunk after chunk, one at a
 * time.
 *
 * What is lost is asked for again; what is not answered in the end, or ended by the other side, ends it.
 */
export class StateFetch {
  readonly #options: StateFetchOptions;
  #awaited: Awaited | undefined;
  #failure: CodedError | undefined;
  #isWanted = true;
  /** Bytes that came. */
  length = 0;
  /** Bytes that were here from a transfer before. */
  heldLength = 0;
  /** Bytes of the whole state, once it is told. */
  wholeLength = 0;
  /** The other node has told its state: what fails from here on may fail again. */
  hasManifest = false;

  constructor(options: StateFetchOptions) {
    this.#options = options;
  }

  /**
   * Fetches everything and hands it to the sink, which has kept it for the next try, or discarded it, when
   * this rejects.
   * @throws CodedError why there is no new state
   */
  async run(): Promise<void> {
    const { sink, say } = this.#options;
    let hasAll = false;
    try {
      await this.#fetch();
      hasAll = true;
      say({ kind: "stateEnd", code: 0 });
      await sink.finish();
    } catch (error) {
      const code = error instanceof CodedError ? error.code : ErrorCode.IoError;
      say({ kind: "stateEnd", code });
      // The other side or the way to it is gone, not what it gave.
      const isOfUse = code === ErrorCode.TransientNotAccepted && !hasAll;
      if (isOfUse && this.#isWanted) await sink.keep();
      // It may have been given up meanwhile.
      if (!isOfUse || !this.#isWanted) await sink.discard();
      throw error;
    }
  }

  /** A message of this transfer; its bytes are copied when they are kept. */
  receive(message: StateMessage): void {
    if (message.kind === "stateEnd") this.cancel(endedBy(message.code));
    else if (this.#awaited?.fits(message) === true) this.#settle()?.came(owned(message));
  }

  /** Ends it as soon as it waits for something; what came may be of use to the next one. */
  cancel(reason: CodedError): void {
    this.#failure ??= reason;
    this.#settle()?.failed(this.#failure);
  }

  /** Ends it likewise, whatever else ends it: the state is not wanted, and nothing of it is kept. */
  giveUp(reason: CodedError): void {
    this.#isWanted = false;
    this.#failure = reason;
    this.#settle()?.failed(reason);
  }

  async #fetch(): Promise<void> {
    const { op, sink } = this.#options;
    const manifest = await this.#ask({ kind: "stateRequest", op }, isManifest);
    if (manifest.op < op) throw unfit(`it ends with operation ${manifest.op}, ${op} was asked for`);
    this.hasManifest = true;
    this.wholeLength = manifest.parts.reduce((sum, { length }) => sum + length, 0);
    const held = await sink.begin(manifest);
    this.heldLength = held.reduce((sum, length) => sum + length, 0);
    for (const [at, part] of manifest.parts.entries()) await this.#fetchPart(at, part, held[at] ?? 0);
  }

  async #fetchPart(at: number, part: StatePart, from: number): Promise<void> {
    for (let position = from; position < part.length; ) {
      const isIt = (message: StateMessage): message is StateChunkMessage =>
        message.kind === "stateChunk" && message.part === at && message.position === position;
      const { bytes } = await this.#ask({ kind: "stateChunkRequest", part: at, position }, isIt);
      if (position + bytes.length > part.length) throw unfit(`${part.name} is longer than it was to be`);
      await this.#options.sink.write(part, position, bytes);
      position += bytes.length;
      this.length += bytes.length;
      this.#options.came(bytes.length);
    }
  }

  async #ask<Fitting extends Answer>(
    words: AskedWords,
    fits: (message: StateMessage) => message is Fitting,
  ): Promise<Fitting> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const answer = await this.#answerTo(words, fits);
      if (answer !== undefined) return answer as Fitting;
    }
    throw new CodedError(ErrorCode.TransientNotAccepted, "The other node does not answer.");
  }

  #answerTo(words: AskedWords, fits: Awaited["fits"]): Promise<Answer | undefined> {
    return new Promise((came, failed) => {
      if (this.#failure !== undefined) return failed(this.#failure);
      const timer = this.#options.clock.setTimer(ANSWER_TIMEOUT_MS, () => this.#settle()?.came(undefined));
      this.#awaited = { fits, came, failed, timer };
      this.#options.say(words);
    });
  }

  #settle(): Awaited | undefined {
    const awaited = this.#awaited;
    this.#awaited = undefined;
    awaited?.timer.cancel();
    return awaited;
  }
}

function isManifest(message: StateMessage): message is StateManifestMessage {
  return message.kind === "stateManifest";
}

/** The bytes of a chunk are a view of its frame. */
function owned(answer: Answer): Answer {
  return answer.kind === "stateChunk" ? { ...answer, bytes: answer.bytes.slice() } : answer;
}

function endedBy(code: number): CodedError {
  const text = `The other node ended the transfer with code ${code}.`;
  return new CodedError(ErrorCode.TransientNotAccepted, text, { details: { code } });
}

function unfit(what: string): CodedError {
  return new CodedError(ErrorCode.ReplicaFrameInvalid, `The state of another node is not used: ${what}.`);
}
