import assert from "node:assert/strict";
import type { PolledMessage } from "../test-polls.ts";
import { checkOrder, type SentMessage } from "./history-order.ts";
import { StoredOffsets } from "./history-stored.ts";
import type { TrimSending, Trims } from "./history-trims.ts";

interface Acknowledged {
  /** Unknown for a repetition that was answered without one. */
  readonly offset: number | undefined;
  /** Purges of its topic that had ended when it was first sent; nothing when one was under way. */
  readonly behindPurge: number | undefined;
  /** The same of deletions of its partition's segments; nothing where there are none. */
  readonly trim?: TrimSending | undefined;
  /** Purges that had begun when it was acknowledged. */
  readonly purgesBegun: number;
}

/** A message that a producer is about to send for the first time. */
export type Sending = Pick<Acknowledged, "behindPurge" | "trim">;

/** A partition and what may become of its messages. */
export interface TopicPlace {
  readonly name: string;
  readonly partitionId: number;
  /** Nothing is taken away: everything that was acknowledged stays. */
  readonly isPermanent: boolean;
  /** It is purged now and then; by default whatever is not permanent is. */
  readonly isPurged?: boolean;
  /** What is taken from its front; nothing where nothing is. */
  readonly trims?: Trims;
}

/** What must be true of one partition of a topic, from what its clients were told. */
export class TopicOracle {
  readonly name: string;
  readonly partitionId: number;
  /** Everything that was acknowledged stays. */
  readonly isPermanent: boolean;
  /** It is purged now and then, and stored offsets go with that. */
  readonly isPurged: boolean;
  /** What is taken from its front; nothing where nothing is. */
  readonly trims: Trims | undefined;
  /** `unsure`: a deletion is under way. */
  state: "kept" | "unsure" | "deleted" = "kept";
  readonly #sent = new Map<string, SentMessage & Sending>();
  readonly #acknowledged = new Map<string, Acknowledged>();
  /** Where each message was seen first: a message never moves. */
  readonly #offsets = new Map<string, number>();
  /** By purges before them: the messages at their offsets, which are never given to others. */
  readonly #seen = new Map<number, string[]>();
  /** By consumer: the offsets that may be stored. */
  readonly #stored = new Map<number, StoredOffsets>();
  /** What the partition held when all had come to rest. */
  #held: ReadonlySet<string> = new Set();
  #heldAt: ReadonlyMap<number, string> = new Map();
  #missing = { behindPurge: 0, below: 0 };
  #sendings = 0;
  #trimmed = 0;
  #purgesBegun = 0;
  #purgesEnded = 0;

  constructor(place: TopicPlace) {
    this.name = place.name;
    this.partitionId = place.partitionId;
    this.isPermanent = place.isPermanent;
    this.isPurged = place.isPurged ?? !place.isPermanent;
    this.trims = place.trims;
  }

  /** What every failure says of where it is. */
  get label(): string {
    return `${this.name}/${this.partitionId}`;
  }

  /** Messages that somebody was told to be stored. */
  acknowledgedTexts(): Iterable<string> {
    return this.#acknowledged.keys();
  }

  /** Acknowledged messages that were gone from its front when all had come to rest. */
  get trimmedCount(): number {
    return this.#trimmed;
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /** One batch; in its next turn a producer sends when it knows what became of all batches of this. */
  sending(texts: readonly string[], by: Pick<SentMessage, "producer" | "turn" | "sentMs">): Sending {
    this.#sendings += 1;
    const isQuiet = this.#purgesBegun === this.#purgesEnded;
    const sending = { behindPurge: isQuiet ? this.#purgesEnded : undefined, trim: this.trims?.sending() };
    const { length } = texts;
    for (const [at, text] of texts.entries()) {
      this.#sent.set(text, { ...sending, ...by, number: this.#sendings, at, length });
    }
    return sending;
  }

  acknowledged(texts: readonly string[], baseOffset: number | undefined, sending: Sending): void {
    for (const [at, text] of texts.entries()) {
      const offset = baseOffset === undefined ? undefined : baseOffset + at;
      this.#acknowledged.set(text, { offset, ...sending, purgesBegun: this.#purgesBegun });
      if (offset !== undefined) this.#see({ offset, text });
    }
  }

  purgeBegins(): void {
    this.#purgesBegun += 1;
  }

  purgeEnds(): void {
    this.#purgesEnded += 1;
  }

  /** Where a message is, as far as anybody was told. */
  offsetOf(text: string): number | undefined {
    return this.#offsets.get(text);
  }

  /** When what the partition held at an offset, when all had come to rest, was first sent. */
  sentMsAt(offset: number): number | undefined {
    const text = this.#heldAt.get(offset);
    return text === undefined ? undefined : this.#sent.get(text)?.sentMs;
  }

  /** What may be stored for a consumer. */
  storedOf(consumer: number): StoredOffsets {
    const stored = this.#stored.get(consumer) ?? new StoredOffsets();
    this.#stored.set(consumer, stored);
    return stored;
  }

  /**
   * What somebody read who asked for everything from an offset on, or from wherever it goes on: only what was
   * sent, one offset after the other, each message where it always was. What is missing was taken away, where
   * that may be, before the read or while it was under way.
   */
  read(messages: readonly PolledMessage[], asked = messages[0]?.offset ?? 0): void {
    let next = asked;
    for (const message of messages) {
      const { offset, text } = message;
      assert.ok(this.#sent.has(text), `${this.label} holds only what was sent, not ${text}`);
      if (this.trims === undefined || offset < next)
        assert.equal(offset, next, `${this.label} has no hole before ${text}`);
      else if (offset > next) this.#checkGap(messages, next, offset);
      this.#see(message);
      next = offset + 1;
    }
  }

  /** Everything the topic holds when all has come to rest. */
  finally(messages: readonly PolledMessage[]): void {
    this.read(messages, 0);
    this.#checkFront(messages);
    this.#trimmed = 0;
    const offsets = new Map(messages.map(({ text, offset }) => [text, offset]));
    assert.equal(offsets.size, messages.length, `${this.label} holds each message once`);
    this.#held = new Set(offsets.keys());
    this.#heldAt = new Map(messages.map(({ text, offset }) => [offset, text]));
    checkOrder(
      this.label,
      messages.map(({ text }) => this.#sent.get(text)!),
    );
    const first = messages[0]?.offset ?? Number.POSITIVE_INFINITY;
    for (const [text, one] of this.#acknowledged)
      this.#checkKept(text, one, { found: offsets.get(text), first });
  }

  #checkKept(
    text: string,
    { offset, behindPurge, purgesBegun, trim }: Acknowledged,
    { found, first }: { readonly found: number | undefined; readonly first: number },
  ): void {
    const what = `acknowledged ${text} of ${this.label}`;
    if (behindPurge === this.#purgesBegun) {
      if (found === undefined && trim !== undefined && (offset ?? -1) < first) {
        this.#checkTaken(text, offset, trim);
        this.#trimmed += 1;
        return;
      }
      assert.notEqual(found, undefined, `${what} is there`);
      if (offset !== undefined) assert.equal(found, offset, `${what} is where it was acknowledged`);
    } else if (purgesBegun < this.#purgesEnded) assert.equal(found, undefined, `${what} was purged`);
  }

  /** Somebody read on beyond the next offset. A node that is behind may show what was before a purge. */
  #checkGap(messages: readonly PolledMessage[], from: number, to: number): void {
    const isOfNow = (text: string) => this.#sent.get(text)?.behindPurge === this.#purgesBegun;
    if (!messages.some(({ text }) => isOfNow(text))) return;
    for (const [text, offset] of this.#offsets) {
      const trim = this.#sent.get(text)?.trim;
      const isMissing = offset >= from && offset < to && isOfNow(text);
      if (isMissing && trim !== undefined) this.#checkTaken(text, offset, trim);
    }
    this.#missing = { behindPurge: this.#purgesBegun, below: Math.max(to, this.#missingBelow) };
  }

  /** Before this offset something was missing already, since the latest purge. */
  get #missingBelow(): number {
    return this.#missing.behindPurge === this.#purgesBegun ? this.#missing.below : 0;
  }

  /** When all has come to rest there are holes in front only, and what was missing once is. */
  #checkFront(messages: readonly PolledMessage[]): void {
    const first = messages[0]?.offset ?? Number.POSITIVE_INFINITY;
    for (const [at, { offset, text }] of messages.entries())
      assert.equal(offset, first + at, `${this.label} has no hole before ${text} at the end`);
    const below = this.#missingBelow;
    assert.ok(first >= below, `${this.label} begins at ${first}, and something before ${below} was missing`);
  }

  /** A message is gone: something took it, and nobody had an offset in front of it by which it stays. */
  #checkTaken(text: string, offset: number | undefined, trim: TrimSending): void {
    const what = `${text} of ${this.label}@${offset}`;
    assert.ok(this.trims?.mayTake(trim) === true, `${what} is gone, and nothing may have taken it`);
    if (offset === undefined || this.isPurged) return;
    for (const [consumer, stored] of this.#stored) {
      const isHeld = stored.keeps(offset, trim.sentMs);
      assert.ok(!isHeld, `${what} is gone, and consumer ${consumer} has not passed it`);
    }
  }

  /** It held a message when all had come to rest. */
  holds(text: string): boolean {
    return this.#held.has(text);
  }

  /** What a node says is stored for a consumer when all has come to rest. */
  finallyStored(consumer: number, offset: number | undefined): void {
    const stored = this.storedOf(consumer);
    const text = `${this.label} keeps the offset of consumer ${consumer}: ${offset} is ${stored.text}`;
    if (!this.isPurged) assert.ok(stored.mayBe(offset), text);
  }

  #see({ offset, text }: PolledMessage): void {
    const place = this.#offsets.get(text);
    assert.ok(
      place === undefined || place === offset,
      `${text} of ${this.label} moves from ${place} to ${offset}`,
    );
    this.#offsets.set(text, offset);
    const generation = this.#sent.get(text)?.behindPurge;
    // Stored behind that purge and seen before the next one: so it belongs between the two.
    if (generation === undefined || generation !== this.#purgesBegun) return;
    const seen = this.#seen.get(generation) ?? [];
    this.#seen.set(generation, seen);
    const before = seen[offset];
    assert.ok(before === undefined || before === text, `${this.label}@${offset} is ${before}, not ${text}`);
    seen[offset] = text;
  }
}
