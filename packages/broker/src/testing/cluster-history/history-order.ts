import assert from "node:assert/strict";

/** Where a message stands among what its producer has sent. */
export interface SentMessage {
  readonly producer: bigint;
  /** Of its batch. */
  readonly number: number;
  /** Higher for what was sent when the outcome of others was known; the same for what was sent at once. */
  readonly turn: number;
  /** When it was first sent. */
  readonly sentMs: number;
  /** Its place in its batch, and the messages of that. */
  readonly at: number;
  readonly length: number;
}

/**
 * Checks everything a partition holds, in the order of offsets: batches are there in one piece, and each
 * producer's in the order in which they were sent, unless several were under way.
 */
export function checkOrder(label: string, messages: readonly SentMessage[]): void {
  const last = new Map<bigint, number>();
  for (const [offset, { producer, turn, number, at, length }] of messages.entries()) {
    const before = last.get(producer) ?? 0;
    const what = `batch ${number} of ${producer} in ${label}@${offset}`;
    assert.ok(turn >= before, `${what}, turn ${turn}, is not behind turn ${before}`);
    last.set(producer, turn);
    assert.ok(
      at === 0 || isBehind(messages[offset - 1], { producer, number, at }),
      `${what} is in one piece`,
    );
    const isLast = at === length - 1;
    assert.ok(isLast || messages[offset + 1]?.number === number, `${what} is whole`);
  }
}

function isBehind(
  one: SentMessage | undefined,
  { producer, number, at }: Pick<SentMessage, "producer" | "number" | "at">,
): boolean {
  return one?.producer === producer && one.number === number && one.at === at - 1;
}
