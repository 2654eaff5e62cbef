import { Violation } from "../oracle/violation.ts";
import { type FoundMessage, payloadOf } from "./sim-content.ts";

/** A batch that was sent, and what is known of it. */
export interface LedgerBatch {
  /** Number of its first message. */
  readonly first: number;
  /** Payload lengths of its messages. */
  readonly lengths: readonly number[];
  /**
   * On its way; acknowledged or read; without an answer that says; known not to be there; taken away by a
   * purge or a deletion of segments; gone or damaged by a power loss it was not protected from: nothing needs
   * to be left that names its offsets, and it may come back where it was.
   */
  outcome: "pending" | "known" | "unknown" | "absent" | "removed" | "vague";
  /** Offset of its first message; -1 until somebody said so. */
  base: number;
  /** Its topic does not protect it from the power loss that came: it may be gone. */
  mayBeLost: boolean;
  /** Bits of its partition's files were changed, or pages lost: reads may answer with the code of damage. */
  mayBeDamaged: boolean;
  /** Something persisted was acknowledged behind it. */
  isSafe: boolean;
  /** Messages of it that the read under way has seen. */
  seenCount: number;
}

/** What all partitions of a run share: who sent which number. */
export class SentNumbers {
  readonly #batches = new Map<number, { readonly ledger: PartitionLedger; readonly batch: LedgerBatch }>();
  #next = 0;

  /** The number the next message gets. */
  get next(): number {
    return this.#next;
  }

  /** Notes a batch under the next numbers. */
  add(ledger: PartitionLedger, batch: LedgerBatch): void {
    for (let index = 0; index < batch.lengths.length; index += 1) {
      this.#batches.set(batch.first + index, { ledger, batch });
    }
    this.#next += batch.lengths.length;
  }

  /** Who sent this number, and with what. */
  find(number: number): { readonly ledger: PartitionLedger; readonly batch: LedgerBatch } | undefined {
    return this.#batches.get(number);
  }
}

const isReported = ({ base, lengths }: LedgerBatch, damaged: readonly number[]) =>
  damaged.some((offset) => offset >= base && offset < base + lengths.length);

const endOf = ({ base, lengths }: LedgerBatch) => base + lengths.length;

/** What a client knows about the messages of one partition, whatever happens to the disk below. */
export class PartitionLedger {
  readonly name: string;
  readonly #numbers: SentNumbers;
  /** Batches with a place, by offset; those without one, by number. */
  #placed: LedgerBatch[] = [];
  #unplaced: LedgerBatch[] = [];
  #floor = 0;
  /** Bytes that may have gone from the beginning; without end where messages expire. */
  #trimCredit: number;
  readonly #isExpiring: boolean;
  /** Batches that deletions of segments took since the last purge. */
  #trimmed: LedgerBatch[] = [];
  #longestBatch = 0;
  /** A purge was asked for whose outcome is open. */
  #mayBePurged = false;
  /** The record that left out a torn tail may have changed: what nobody was told of may come back. */
  #isHarmed = false;
  /** The power failed since the last read of everything: the end may lie lower than before. */
  #mayEndEarlier = false;

  /** @param isExpiring  any number of messages may go from the beginning, at any time */
  constructor(name: string, numbers: SentNumbers, isExpiring: boolean) {
    this.name = name;
    this.#numbers = numbers;
    this.#isExpiring = isExpiring;
    this.#trimCredit = isExpiring ? Number.POSITIVE_INFINITY : 0;
  }

  /** Behind the last offset that is known. */
  get end(): number {
    const last = this.#placed.at(-1);
    return last === undefined ? this.#floor : Math.max(this.#floor, endOf(last));
  }

  /** The last offset that was acknowledged or read and is certain to be there; -1 for none. */
  get lastKnown(): number {
    const last = this.#placed.findLast(({ mayBeLost, mayBeDamaged }) => !mayBeLost && !mayBeDamaged);
    return last === undefined ? -1 : endOf(last) - 1;
  }

  /** True when something is known to be there. */
  get isFilled(): boolean {
    return this.#placed.some(({ mayBeLost }) => !mayBeLost);
  }

  /** True while a purge may have happened. */
  get mayBePurged(): boolean {
    return this.#mayBePurged;
  }

  /** Notes a batch before it leaves. */
  send(lengths: readonly number[]): LedgerBatch {
    const fresh = { outcome: "pending", base: -1, seenCount: 0, isSafe: false } as const;
    const calm = { mayBeLost: false, mayBeDamaged: false };
    const batch: LedgerBatch = { first: this.#numbers.next, lengths, ...fresh, ...calm };
    this.#numbers.add(this, batch);
    this.#unplaced.push(batch);
    return batch;
  }

  /** Notes an acknowledgement. @throws Violation moved or reused */
  acknowledge(batch: LedgerBatch, base: number): void {
    if (batch.base >= 0 && batch.base !== base) {
      throw new Violation("moved", `${this.#where(batch)} was read and is acknowledged at ${base}`);
    }
    if (batch.base < 0) this.#place(batch, base);
    batch.outcome = "known";
  }

  /** Notes that no answer says what became of a batch: none came, or a refusal after the disk was asked. */
  loseAnswer(batch: LedgerBatch): void {
    if (batch.outcome === "pending") batch.outcome = "unknown";
  }

  /** Notes a refusal which says that nothing of the batch is on the disk. */
  refuse(batch: LedgerBatch): void {
    if (batch.outcome === "pending") batch.outcome = "absent";
  }

  /** Notes the end of the process that owed answers. */
  loseAnswers(): void {
    for (const batch of this.#unplaced) this.loseAnswer(batch);
  }

  /** True once deletions of segments may take its first batches. */
  get mayBeTrimmed(): boolean {
    return this.#trimCredit > 0;
  }

  /** Batches that are acknowledged or were read. */
  known(): LedgerBatch[] {
    return this.#placed.slice();
  }

  /**
   * The power failed, and only what is `isSafe` is protected from that.
   * @param isTrimSafe  a deletion of segments is protected too, else what it took may be there again
   */
  losePower(isTrimSafe = false): void {
    this.#mayEndEarlier = true;
    if (!isTrimSafe) for (const batch of this.#trimmed.splice(0)) batch.outcome = "vague";
    for (const batch of [...this.#placed, ...this.#unplaced]) {
      if (batch.isSafe) continue;
      batch.mayBeLost = true;
      batch.mayBeDamaged = true;
    }
  }

  /** A bit of the partition's files changed. */
  harm(): void {
    this.#isHarmed = true;
    for (const batch of [...this.#placed, ...this.#unplaced]) batch.mayBeDamaged = true;
  }

  /** Notes that segments may be deleted. */
  allowTrim(segmentsCount: number, segmentLength: number): void {
    this.#trimCredit += segmentsCount * (segmentLength + this.#longestBatch);
  }

  /** Notes that a purge was asked for: from now on the partition may be empty. */
  allowPurge(): void {
    this.#mayBePurged = true;
  }

  /** Notes that a purge did not happen. */
  forgetPurge(): void {
    this.#mayBePurged = false;
  }

  /** Notes that the partition was purged: everything is gone, and offsets begin again at 0. */
  purge(): void {
    for (const batch of this.#placed) batch.outcome = "removed";
    this.#trimmed = [];
    this.#placed = [];
    this.#floor = 0;
    this.#trimCredit = this.#isExpiring ? Number.POSITIVE_INFINITY : 0;
    this.#mayBePurged = false;
  }

  /** True when a log that ends at `offset` can only have been purged: what is known behind it is gone. */
  provesPurge(offset: number): boolean {
    const isGone = this.#placed.some(({ base, mayBeLost }) => base >= offset && !mayBeLost);
    return this.#mayBePurged && !this.mayBeTrimmed && isGone;
  }

  /** The first batch that is known to reach to `offset` or beyond; undefined for none. */
  batchFrom(offset: number): LedgerBatch | undefined {
    return this.#placed.find((batch) => endOf(batch) > offset);
  }

  /** Judges one message of a poll. @throws Violation */
  see({ offset, number, payload }: FoundMessage): void {
    const where = `${this.name} offset ${offset}`;
    const found = this.#numbers.find(number);
    if (found === undefined) throw new Violation("never-sent", `${where} holds an unknown message ${number}`);
    const { batch, ledger } = found;
    if (ledger !== this) throw new Violation("moved", `${where} holds a message of ${ledger.name}`);
    const length = batch.lengths[number - batch.first] ?? 0;
    if (Buffer.compare(payload, payloadOf(number, length)) !== 0)
      throw new Violation("altered", `${where}: message ${number} has other bytes than were sent`);
    if (batch.outcome === "absent" && batch.base < 0 && this.#isHarmed) return;
    if (batch.outcome === "absent" || batch.outcome === "removed")
      throw new Violation("returned", `${where} holds ${this.#where(batch)}`);
    const base = offset - (number - batch.first);
    if (batch.outcome === "vague" && (batch.base === base || batch.base < 0)) return;
    if (batch.base < 0) this.#place(batch, base);
    else if (batch.base !== base) throw new Violation("moved", `${where} holds ${this.#where(batch)}`);
    batch.outcome = "known";
  }

  /** Notes that the read under way has seen message `number`, which `see` judged. */
  count(number: number): void {
    const batch = this.#numbers.find(number)?.batch;
    if (batch !== undefined) batch.seenCount += 1;
  }

  /** Begins a read of everything. */
  beginRead(): void {
    for (const batch of this.#placed) batch.seenCount = 0;
  }

  /** True when the read under way saw messages and missed known ones behind them, which nothing explains. */
  isHoled(damaged: readonly number[]): boolean {
    const from = this.#placed.findIndex(({ seenCount }) => seenCount > 0);
    const behind = from < 0 ? [] : this.#placed.slice(from);
    return behind.some((batch) => !batch.mayBeLost && !this.#isAnswered(batch, damaged));
  }

  /**
   * Ends a read of everything. While a purge is open and none of its batches was seen, nothing is judged:
   * they may all be gone, or hidden by damage.
   *
   * @param damaged  offsets at which the answer was the code of damage
   * @throws Violation lost
   */
  endRead(damaged: readonly number[]): void {
    if (this.#mayBePurged && this.#placed.every(({ seenCount }) => seenCount === 0)) return;
    let isBeginning = true;
    this.#placed = this.#placed.filter((batch) => {
      const isKept = this.#isThere(batch, damaged, isBeginning);
      if (isKept) isBeginning = false;
      return isKept;
    });
    for (const batch of this.#unplaced) {
      if (batch.outcome !== "pending") batch.outcome = batch.mayBeLost ? "vague" : "absent";
    }
    this.#unplaced = this.#unplaced.filter(({ outcome }) => outcome === "pending");
    const last = this.#placed.at(-1);
    const end = last === undefined ? 0 : endOf(last);
    this.#floor = this.#mayEndEarlier ? end : Math.max(this.#floor, end);
    this.#mayEndEarlier = false;
    for (const batch of this.#placed) batch.mayBeLost = false;
  }

  /** True when a batch was read whole, or was answered with the code of damage that it may have. */
  #isAnswered(batch: LedgerBatch, damaged: readonly number[]): boolean {
    if (batch.seenCount === batch.lengths.length) return true;
    return batch.mayBeDamaged && !batch.mayBeLost && isReported(batch, damaged);
  }

  #isThere(batch: LedgerBatch, damaged: readonly number[], isBeginning: boolean): boolean {
    if (this.#isAnswered(batch, damaged)) return true;
    // Who may have lost it cannot say that a deletion took it, which would forbid it to come back.
    if (batch.mayBeLost) {
      batch.outcome = "vague";
      return false;
    }
    const length = 256 + batch.lengths.reduce((sum, payload) => sum + payload + 48, 0);
    const isDamaged = isReported(batch, damaged);
    if (isBeginning && batch.seenCount === 0 && !isDamaged && length <= this.#trimCredit) {
      this.#trimCredit -= length;
      batch.outcome = "removed";
      this.#trimmed.push(batch);
      return false;
    }
    const how = isDamaged ? "is answered with the code of damage" : "is not there";
    throw new Violation("lost", `${this.name}: ${this.#where(batch)} ${how}`);
  }

  #place(batch: LedgerBatch, base: number): void {
    const end = base + batch.lengths.length;
    const index = this.#placed.findIndex((other) => endOf(other) > base);
    const there = this.#placed[index];
    if (there !== undefined && there.base < end)
      throw new Violation("reused", `${this.name} offset ${base} was given to ${this.#where(there)}`);
    if (base < this.#floor)
      throw new Violation("reused", `${this.name} gives ${base}, offsets below ${this.#floor} were seen`);
    batch.base = base;
    this.#longestBatch = Math.max(
      this.#longestBatch,
      256 + batch.lengths.reduce((sum, length) => sum + length + 48, 0),
    );
    this.#placed.splice(index < 0 ? this.#placed.length : index, 0, batch);
    this.#unplaced = this.#unplaced.filter((other) => other !== batch);
  }

  #where({ first, lengths, base, outcome }: LedgerBatch): string {
    const place = base < 0 ? "nowhere yet" : `at ${base}`;
    return `${outcome} batch of messages ${first}..${first + lengths.length - 1} ${place}`;
  }
}
