import { CodedError, ErrorCode } from "@millrace/errors";
import type { ShownMessage } from "../connection/client.ts";
import type { ActorLoad } from "./load.ts";
import type { Meter } from "./meter.ts";
import type { GroupPlan } from "./plan.ts";

/**
 * What the members of one group have read together. A partition that changes hands may bring messages again:
 * those are told apart by their offsets and do not count twice.
 */
export class GroupProgress {
  readonly plan: GroupPlan;
  readonly #nextOffsets = new Map<number, bigint>();
  readonly #onDone: (() => void)[] = [];
  #received = 0;
  #repeated = 0;

  constructor(plan: GroupPlan) {
    this.plan = plan;
  }

  get isDone(): boolean {
    return this.#received >= this.plan.messages;
  }

  /** Messages that came more than once. */
  get repeated(): number {
    return this.#repeated;
  }

  /**
   * Takes a message: `counts` is false for one of the warm-up and for one that came before.
   *
   * @throws CodedError when messages before it never came
   */
  take({ partitionId, offset }: Pick<ShownMessage, "partitionId" | "offset">): { readonly counts: boolean } {
    const expected = this.#nextOffsets.get(partitionId) ?? 0n;
    if (offset < expected) {
      this.#repeated += 1;
      return { counts: false };
    }
    if (offset > expected) {
      const missing = `offsets ${expected} to ${offset - 1n} of partition ${partitionId}`;
      throw new CodedError(ErrorCode.Error, `The group ${this.plan.name} never got ${missing}.`);
    }
    this.#nextOffsets.set(partitionId, offset + 1n);
    this.#received += 1;
    if (this.isDone) for (const callback of this.#onDone) callback();
    return { counts: this.#received > this.plan.warmUpMessages };
  }

  /** Calls back once everything is read. */
  onDone(callback: () => void): void {
    this.#onDone.push(callback);
  }
}

/**
 * Reads as a member of a group until the group has everything. Measures the time a batch worth of messages
 * takes to come out of the loop, or, for messages that carry the time they were due, the way of each.
 */
export async function runMember(load: ActorLoad, progress: GroupProgress, meter: Meter): Promise<void> {
  const { plan, client, topics, clock, signal } = load;
  const topic = topics[progress.plan.place];
  if (topic === undefined) throw new RangeError(`there is no place ${progress.plan.place}`);
  if (progress.isDone) return;
  const group = progress.plan.name;
  const reader = client.consumerGroup({ ...topic, group, batchCountMax: plan.messagesPerBatch });
  const close = () => void reader.close().catch(() => {});
  progress.onDone(close);
  signal.addEventListener("abort", close, { once: true });
  const received = plan.traits.sends ? wayMeter(load, meter) : blockMeter(load, meter);
  for await (const message of reader) {
    if (progress.take(message).counts) received(message, clock.nowMs());
    if (progress.isDone) break;
  }
  signal.throwIfAborted();
  await reader.close();
}

type Received = (message: ShownMessage, atMs: number) => void;

function wayMeter({ plan, payloads }: ActorLoad, meter: Meter): Received {
  return ({ originTimestamp }, atMs) => {
    const fromMs = payloads.dueMsOf(originTimestamp);
    meter.record({ fromMs, atMs, messages: 1, bytes: plan.messageSize });
  };
}

function blockMeter({ plan }: ActorLoad, meter: Meter): Received {
  let fromMs: number | undefined;
  let messages = 0;
  return (_, atMs) => {
    fromMs ??= atMs;
    messages += 1;
    meter.count({ fromMs: atMs, atMs, messages: 1, bytes: plan.messageSize });
    if (messages < plan.messagesPerBatch) return;
    meter.latency.record((atMs - fromMs) * 1e6);
    fromMs = atMs;
    messages = 0;
  };
}
