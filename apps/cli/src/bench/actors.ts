import type { Ack, Message, Producer } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { ActorLoad } from "./load.ts";
import type { Meter } from "./meter.ts";
import { runPaced } from "./paced-requests.ts";
import type { PollerPlan, SenderPlan } from "./plan.ts";

/** Headers of a batch and of its frames, and what encryption adds to a payload, rounded up. */
const OVERHEAD_EACH = 128;
const OVERHEAD_BATCH = 1_024;
/** How long a consumer waits that found nothing new. */
const EMPTY_WAIT_MS = 1;
/** Whose offsets a poll would store; nothing is stored here. */
const CONSUMER = 1;

/** Sends `batches` batches, each at the time it is due, and measures until the server confirms them. */
export async function runSender(
  load: ActorLoad,
  spot: SenderPlan,
  run: { readonly batches: number; readonly isStamped: boolean; readonly meter?: Meter },
): Promise<void> {
  const { plan, clock, signal, payloads } = load;
  const { delayMs } = spot;
  const producer = openProducer(load, spot);
  const request = async (index: number, dueMs: number) => {
    await sendBatch(producer, run.isStamped ? payloads.stampedBatch(dueMs) : payloads.batch());
    if (index >= plan.warmUp) run.meter?.record({ fromMs: dueMs, atMs: clock.nowMs(), ...oneBatch(load) });
  };
  const intervalMs = run.meter === undefined ? undefined : plan.intervalMs;
  await runPaced({
    clock,
    signal,
    count: run.batches,
    inFlight: plan.inFlight,
    intervalMs,
    delayMs,
    request,
  });
  await producer.close();
}

/** Polls a partition from its start and measures every poll that brings something. */
export async function runPoller(load: ActorLoad, spot: PollerPlan, meter: Meter): Promise<void> {
  const { plan, clock, signal } = load;
  const { delayMs } = spot;
  const request = (index: number, dueMs: number) =>
    pollBatch(load, spot, index * plan.messagesPerBatch, {
      dueMs,
      ...(index >= plan.warmUp && { meter }),
    });
  const intervalMs = plan.traits.sends ? undefined : plan.intervalMs;
  await runPaced({
    clock,
    signal,
    count: spot.batches,
    inFlight: plan.inFlight,
    intervalMs,
    delayMs,
    request,
  });
}

/** Sends a batch and polls it back; measures both the sending and the whole way. */
export async function runRoundTrips(
  load: ActorLoad,
  spot: SenderPlan,
  meters: { readonly sends: Meter; readonly ways: Meter },
): Promise<void> {
  const { plan, clock, signal, payloads } = load;
  const { partitionId = 0, delayMs } = spot;
  const producer = openProducer(load, spot);
  const request = async (index: number, dueMs: number) => {
    const { offset } = await sendBatch(producer, payloads.batch());
    const sentMs = clock.nowMs();
    if (offset === undefined) {
      throw new CodedError(ErrorCode.OutcomeUnknown, "The server no longer says where a batch was written.");
    }
    await pollBatch(load, { place: spot.place, partitionId }, Number(offset), { dueMs: sentMs });
    if (index < plan.warmUp) return;
    meters.sends.record({ fromMs: dueMs, atMs: sentMs, ...oneBatch(load) });
    meters.ways.record({ fromMs: dueMs, atMs: clock.nowMs(), ...oneBatch(load) });
  };
  const { inFlight, intervalMs } = plan;
  await runPaced({
    clock,
    signal,
    count: plan.warmUp + plan.batches,
    inFlight,
    intervalMs,
    delayMs,
    request,
  });
  await producer.close();
}

/** Polls until a whole batch from `offset` on is there. */
async function pollBatch(
  load: ActorLoad,
  spot: Pick<PollerPlan, "place" | "partitionId">,
  offset: number,
  { dueMs, meter }: { readonly dueMs: number; readonly meter?: Meter },
): Promise<void> {
  const { plan, client, topics, clock, signal } = load;
  const topic = topics[spot.place];
  if (topic === undefined) throw new RangeError(`there is no place ${spot.place}`);
  let fromMs = dueMs;
  for (let got = 0; got < plan.messagesPerBatch; ) {
    signal.throwIfAborted();
    const { messages } = await client.pollMessages({
      ...topic,
      partitionId: spot.partitionId,
      consumer: CONSUMER,
      startAt: { offset: offset + got },
      count: plan.messagesPerBatch - got,
    });
    const [first] = messages;
    if (first === undefined) await clock.waitUntil(clock.nowMs() + EMPTY_WAIT_MS);
    else {
      checkFirst(first, offset + got, plan.messageSize);
      got += messages.length;
      const bytes = messages.length * plan.messageSize;
      meter?.record({ fromMs, atMs: clock.nowMs(), messages: messages.length, bytes });
    }
    fromMs = clock.nowMs();
  }
}

/** A benchmark of a server that answers something else is none. */
function checkFirst(first: { offset: bigint; payload: Uint8Array }, offset: number, size: number): void {
  if (first.offset === BigInt(offset) && first.payload.length === size) return;
  const got = `${first.payload.length} bytes at offset ${first.offset}`;
  throw new CodedError(ErrorCode.Error, `The server answered ${got} where ${size} at ${offset} were sent.`);
}

function openProducer({ client, plan, topics }: ActorLoad, { place, partitionId }: SenderPlan) {
  const topic = topics[place];
  if (topic === undefined) throw new RangeError(`there is no place ${place}`);
  return client.producer({
    ...topic,
    partitioning: partitionId === undefined ? "balanced" : { partition: partitionId },
    batchCountMax: plan.messagesPerBatch,
    batchLengthMax: OVERHEAD_BATCH + plan.messagesPerBatch * (plan.messageSize + OVERHEAD_EACH),
    inFlightMax: plan.inFlight,
    lingerMs: 0,
  });
}

async function sendBatch(producer: Pick<Producer, "send">, messages: readonly Message[]): Promise<Ack> {
  const ack = await producer.send(messages);
  if (ack.count === messages.length) return ack;
  throw new CodedError(ErrorCode.Error, `Of ${messages.length} messages ${ack.count} were confirmed.`);
}

function oneBatch({ plan }: ActorLoad): { messages: number; bytes: number } {
  return { messages: plan.messagesPerBatch, bytes: plan.messagesPerBatch * plan.messageSize };
}
