import { Violation } from "../oracle/violation.ts";

/** How a soak went for its messages. Times are milliseconds. */
export interface HandledReport {
  readonly count: number;
  /** Times a message was handled again. */
  readonly repeatedCount: number;
  readonly longestWaitMs: number;
}

/** What was acknowledged to the producer and what members handled, and when. */
export class HandledMessages {
  readonly #sentMs: number[][];
  readonly #handledMs: number[][];
  #repeatedCount = 0;

  constructor(partitionsCount: number) {
    this.#sentMs = Array.from({ length: partitionsCount }, () => []);
    this.#handledMs = Array.from({ length: partitionsCount }, () => []);
  }

  /** A batch was acknowledged. */
  sent(partitionId: number, baseOffset: number, count: number, nowMs: number): void {
    const sent = this.#sentMs[partitionId] as number[];
    for (let index = 0; index < count; index += 1) sent[baseOffset + index] = nowMs;
  }

  /** A member handled a message, perhaps before its producer heard of it. */
  handled(partitionId: number, offset: number, nowMs: number): void {
    const handled = this.#handledMs[partitionId] as number[];
    if (handled[offset] === undefined) handled[offset] = nowMs;
    else this.#repeatedCount += 1;
  }

  /** Acknowledged messages that nobody handled yet. */
  get missingCount(): number {
    let missing = 0;
    for (const [partitionId, sent] of this.#sentMs.entries()) {
      const handled = this.#handledMs[partitionId] as number[];
      for (const offset of sent.keys()) if (handled[offset] === undefined) missing += 1;
    }
    return missing;
  }

  /** @throws Violation unread, when one was not handled or waited longer than `waitMaxMs` */
  check(waitMaxMs: number): HandledReport {
    let count = 0;
    let longestWaitMs = 0;
    for (const [partitionId, sent] of this.#sentMs.entries()) {
      for (const [offset, sentMs] of sent.entries()) {
        const handledMs = this.#handledMs[partitionId]?.[offset];
        const where = `message ${offset} of partition ${partitionId}`;
        if (handledMs === undefined) throw new Violation("unread", `${where} was never handled`);
        const waitMs = handledMs - sentMs;
        if (waitMs > waitMaxMs) throw new Violation("unread", `${where} waited ${Math.round(waitMs)} ms`);
        longestWaitMs = Math.max(longestWaitMs, waitMs);
        count += 1;
      }
    }
    return { count, repeatedCount: this.#repeatedCount, longestWaitMs };
  }
}
