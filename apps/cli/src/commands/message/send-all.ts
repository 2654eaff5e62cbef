import type { Ack, Message, MessageHeaders, Producer } from "@millrace/client";
import { CodedError, isCodedError } from "@millrace/errors";
import type { MessageSource } from "./message-source.ts";

/** Offsets that a send got in one partition; other senders may have offsets between them. */
export interface WrittenRange {
  messages: number;
  readonly firstOffset: bigint;
  lastOffset: bigint;
}

/** What a whole send came to. */
export interface SendTotals {
  messages: number;
  /** Bytes of the payloads. */
  bytes: number;
  /** Empty lines, which cannot be messages. */
  skipped: number;
  readonly partitions: ReadonlyMap<number, WrittenRange>;
}

/**
 * Portions on their way at once: enough to fill the producer's batches, few enough to stop early at an error.
 */
const PORTIONS_MAX = 16;

/**
 * Sends everything a source has and resolves when the server has confirmed it.
 *
 * Portions go out in order and are awaited in order, so the first error ends the reading of the source.
 * @throws CodedError of the first portion that failed; its message says how many were written before
 */
export async function sendAll(
  producer: Pick<Producer, "send" | "close">,
  source: MessageSource,
  headers: MessageHeaders | undefined,
): Promise<SendTotals> {
  const partitions = new Map<number, WrittenRange>();
  const totals: SendTotals = { messages: 0, bytes: 0, skipped: 0, partitions };
  const pending: Promise<Ack>[] = [];
  const settleOldest = async () => {
    const ack = await pending.shift();
    if (ack === undefined) return;
    totals.messages += ack.count;
    for (const range of ack.ranges) addRange(partitions, range);
    source.onConfirmed(totals.messages);
  };
  try {
    for await (const { messages, skipped } of source.portions) {
      totals.skipped += skipped;
      if (messages.length === 0) continue;
      totals.bytes += payloadBytes(messages);
      pending.push(producer.send(headers === undefined ? messages : withHeaders(messages, headers)));
      if (pending.length >= PORTIONS_MAX) await settleOldest();
    }
    while (pending.length > 0) await settleOldest();
    await producer.close();
  } catch (error) {
    throw withProgress(error, totals.messages);
  } finally {
    source.onEnd();
  }
  return totals;
}

/** The same error, saying how far the send had come: whoever repeats it has to know. */
function withProgress(error: unknown, messages: number): unknown {
  if (!isCodedError(error) || messages === 0) return error;
  const message = `${error.message} Before that, ${messages} messages were written.`;
  return new CodedError(error.code, message, { details: error.details, cause: error.cause });
}

function withHeaders(messages: readonly Message[], headers: MessageHeaders): Message[] {
  return messages.map((message) => ({ ...message, headers }));
}

function payloadBytes(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { payload } of messages) {
    if (typeof payload === "string") bytes += Buffer.byteLength(payload);
    else if (payload instanceof Uint8Array) bytes += payload.length;
  }
  return bytes;
}

function addRange(
  partitions: Map<number, WrittenRange>,
  { partitionId, offset, count }: Ack["ranges"][number],
): void {
  if (partitionId === undefined || offset === undefined) return;
  const lastOffset = offset + BigInt(count) - 1n;
  const range = partitions.get(partitionId);
  if (range === undefined) {
    partitions.set(partitionId, { messages: count, firstOffset: offset, lastOffset });
    return;
  }
  range.messages += count;
  range.lastOffset = lastOffset;
}
