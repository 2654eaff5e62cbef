import assert from "node:assert/strict";
import type { PolledMessage } from "../test-polls.ts";

interface Acknowledged {
  /** Unknown for a repetition that was answered without one. */
  readonly offset: number | undefined;
  /** Purges of its topic that had ended when it was first sent; nothing when one was under way. */
  readonly behindPurge: number | undefined;
  /** Purges that had begun when it was acknowledged. */
  readonly purgesBegun: number;
}

/** A message that a producer is about to send for the first time. */
export type Sending = Pick<Acknowledged, "behindPurge">;

/** What must be true of one partition of a topic, from what its clients were told. */
export class TopicOracle {
  readonly name: string;
  readonly partitionId: number;
  /** Nobody purges it: offsets mean the same message for ever. */
  readonly isPermanent: boolean;
  /** `unsure`: a deletion is under way. */
  state: "kept" | "unsure" | "deleted" = "kept";
  readonly #sent = new Set<string>();
  readonly #acknowledged = new Map<string, Acknowledged>();
  readonly #seen: string[] = [];
  /** By consumer: offsets that may be stored, the last acknowledged one and those tried since. */
  readonly #stored = new Map<number, (number | undefined)[]>();
  #purgesBegun = 0;
  #purgesEnded = 0;

  constructor(place: { readonly name: string; readonly partitionId: number; readonly isPermanent: boolean }) {
    this.name = place.name;
    this.partitionId = place.partitionId;
    this.isPermanent = place.isPermanent;
  }

  /** What every failure says of where it is. */
  get label(): string {
    return `${this.name}/${this.partitionId}`;
  }

  /** Messages that somebody was told to be stored. */
  acknowledgedTexts(): Iterable<string> {
    return this.#acknowledged.keys();
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  sending(texts: readonly string[]): Sending {
    for (const text of texts) this.#sent.add(text);
    const isQuiet = this.#purgesBegun === this.#purgesEnded;
    return { behindPurge: isQuiet ? this.#purgesEnded : undefined };
  }

  acknowledged(texts: readonly string[], baseOffset: number | undefined, sending: Sending): void {
    for (const [at, text] of texts.entries()) {
      const offset = baseOffset === undefined ? undefined : baseOffset + at;
      this.#acknowledged.set(text, { offset, ...sending, purgesBegun: this.#purgesBegun });
      if (this.isPermanent && offset !== undefined) this.#see({ offset, text });
    }
  }

  purgeBegins(): void {
    this.#purgesBegun += 1;
  }

  purgeEnds(): void {
    this.#purgesEnded += 1;
  }

  storing(consumer: number, offset: number): void {
    const possible = this.#stored.get(consumer) ?? [undefined];
    this.#stored.set(consumer, [...possible, offset]);
  }

  stored(consumer: number, offset: number): void {
    this.#stored.set(consumer, [offset]);
  }

  /** What somebody read: only what was sent, and of a permanent topic the same message at each offset. */
  read(messages: readonly PolledMessage[]): void {
    for (const message of messages) {
      assert.ok(this.#sent.has(message.text), `${this.label} holds only what was sent, not ${message.text}`);
      if (this.isPermanent) this.#see(message);
    }
  }

  /** Everything the topic holds when all has come to rest. */
  finally(messages: readonly PolledMessage[]): void {
    this.read(messages);
    const offsets = new Map(messages.map(({ text, offset }) => [text, offset]));
    assert.equal(offsets.size, messages.length, `${this.label} holds each message once`);
    assert.deepEqual(
      messages.map(({ offset }) => offset),
      messages.map((_, at) => at),
      `${this.label} has no holes`,
    );
    for (const [text, { offset, behindPurge, purgesBegun }] of this.#acknowledged) {
      const found = offsets.get(text);
      const what = `acknowledged ${text} of ${this.label}`;
      if (behindPurge === this.#purgesBegun) {
        assert.notEqual(found, undefined, `${what} is there`);
        if (offset !== undefined) assert.equal(found, offset, `${what} is where it was acknowledged`);
      } else if (purgesBegun < this.#purgesEnded) assert.equal(found, undefined, `${what} was purged`);
    }
  }

  /** What a node says is stored for a consumer when all has come to rest. */
  finallyStored(consumer: number, offset: number | undefined): void {
    const possible = this.#stored.get(consumer) ?? [undefined];
    const text = `${this.label} keeps the offset of consumer ${consumer}: ${offset} is one of ${possible}`;
    if (this.isPermanent) assert.ok(possible.includes(offset), text);
  }

  #see({ offset, text }: PolledMessage): void {
    const before = this.#seen[offset];
    assert.ok(before === undefined || before === text, `${this.label}@${offset} is ${before}, not ${text}`);
    this.#seen[offset] = text;
  }
}
