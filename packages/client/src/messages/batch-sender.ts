import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  BATCH_HEADER_LENGTH,
  BlockPool,
  type ChecksumKernel,
  createChecksumKernel,
  HEADER_LENGTH,
  type Lease,
  MESSAGE_LENGTH_MAX,
  writeBatch,
} from "@millrace/framing";
import {
  CommandCode,
  decodeBody,
  decodeSendMessagesReply,
  encodeSendMetadata,
  type Identifier,
  Operation,
  type Partitioning,
  type SendConfirmation,
} from "@millrace/protocol";
import type { ClientPlatform } from "../client-platform.ts";
import type { Lane } from "../connection/call.ts";
import type { Session } from "../connection/session.ts";
import type { PreparedMessage } from "./message.ts";
import { RandomIds } from "./random-ids.ts";

/** Where a message's id stands in its frame. */
const ID_POSITION = 8;

/** One batch to send. */
export interface BatchRequest {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitioning: Partitioning;
  /** At least one; their payloads are lent until `done`. */
  readonly messages: readonly PreparedMessage[];
  readonly lane?: Lane;
  /**
   * Called once. No confirmations with no error: the server had committed the batch before and forgot
   * where.
   */
  readonly done: (error: CodedError | undefined, confirmations: readonly SendConfirmation[]) => void;
}

/** A batch that waits for memory, and what stands before it in its frame. */
interface WaitingBatch {
  readonly request: BatchRequest;
  readonly metadata: Uint8Array;
}

interface SendMemory {
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/**
 * Writes batches into the client's own memory, seals them there and sends them. One per client: the memory
 * bounds what all its producers have in flight. Batches that find no room wait, first come first served.
 */
export class BatchSender {
  readonly #session: Session;
  readonly #options: { readonly retrySends: boolean; readonly sendMemoryLength: number };
  readonly #ids: RandomIds;
  readonly #waiting: WaitingBatch[] = [];
  #memory: SendMemory | undefined;

  constructor(
    session: Session,
    platform: ClientPlatform,
    options: { readonly retrySends: boolean; readonly sendMemoryLength: number },
  ) {
    this.#session = session;
    this.#options = options;
    this.#ids = new RandomIds(platform.random);
  }

  /** Leases held now; none when nothing is in flight. */
  get leasesOut(): number {
    return this.#memory?.pool.leasesOut ?? 0;
  }

  /** Sends one batch as soon as there is memory for it. Never throws: what is wrong comes out of `done`. */
  send(request: BatchRequest): void {
    const { stream, topic, partitioning, messages, done } = request;
    try {
      const metadata = encodeSendMetadata({ stream, topic, partitioning, messagesCount: messages.length });
      this.#waiting.push({ request, metadata });
    } catch (error) {
      done(asCoded(error), []);
      return;
    }
    if (this.#waiting.length === 1) this.#drain();
  }

  #drain(): void {
    for (;;) {
      const next = this.#waiting[0];
      if (next === undefined) return;
      const room = this.#roomFor(next);
      if (room === undefined) return;
      this.#waiting.shift();
      if (isCodedError(room)) next.request.done(room, []);
      else this.#write(next, room);
    }
  }

  /** Memory for a batch, or why there is none; undefined when it has to wait, and is looked at again. */
  #roomFor({ request, metadata }: WaitingBatch): Lease | CodedError | undefined {
    const memory = this.#session.endError ?? this.#ensureMemory();
    if (isCodedError(memory)) return memory;
    const { pool } = memory;
    const length = batchLengthOfPrepared(request.messages);
    const refusal = lengthError(length, HEADER_LENGTH + metadata.length, pool);
    if (refusal !== undefined) return refusal;
    const lease = pool.allocate(length);
    if (lease === undefined) pool.onAvailable(() => this.#drain());
    return lease;
  }

  #ensureMemory(): SendMemory | CodedError {
    const { sendMemoryLength } = this.#options;
    try {
      if (this.#memory === undefined) {
        const kernel = createChecksumKernel({ memoryLength: sendMemoryLength });
        this.#memory = { kernel, pool: new BlockPool(kernel.memory) };
      }
      return this.#memory;
    } catch (cause) {
      const message = `The memory for sends, ${sendMemoryLength} bytes, cannot be had; lower sendMemoryLength.`;
      return new CodedError(ErrorCode.MemoryExhausted, message, { cause });
    }
  }

  #write({ request, metadata }: WaitingBatch, lease: Lease): void {
    const { messages, lane, done } = request;
    let batch: Uint8Array;
    try {
      batch = lease.bytes.subarray(0, this.#seal(messages, lease.position));
    } catch (error) {
      lease.release();
      done(asCoded(error), []);
      return;
    }
    this.#session.execute({
      kind: "partition",
      operation: Operation.SendMessages,
      code: CommandCode.SendMessages,
      body: [metadata, batch],
      repeatAfterLoss: this.#options.retrySends,
      ...(lane !== undefined && { lane }),
      done: (error, payload) => {
        lease.release();
        answer(error, payload, done);
      },
    });
  }

  #seal(messages: readonly PreparedMessage[], position: number): number {
    const { kernel } = this.#memory as SendMemory;
    const { bytes } = kernel.memory;
    let originTimestamp = Number.POSITIVE_INFINITY;
    for (const message of messages) originTimestamp = Math.min(originTimestamp, message.originTimestamp);
    const length = writeBatch(bytes, position, messages, originTimestamp);
    let framePosition = position + BATCH_HEADER_LENGTH;
    for (const message of messages) {
      if (!message.id) this.#ids.write(bytes, framePosition + ID_POSITION);
      framePosition += message.frameLength;
    }
    kernel.sealBatch(position, length);
    return length;
  }
}

/** Why a batch cannot be sent at all. @param before  bytes of the frame in front of it */
function lengthError(length: number, before: number, pool: BlockPool): CodedError | undefined {
  if (length > pool.blocksTotal * pool.blockLength) {
    const message = `A batch of ${length} bytes does not fit the client's memory; raise sendMemoryLength.`;
    return new CodedError(ErrorCode.MemoryExhausted, message, { details: { length } });
  }
  if (before + length <= MESSAGE_LENGTH_MAX) return undefined;
  const message = `A batch of ${length} bytes does not fit one frame; send fewer messages at once.`;
  return new CodedError(ErrorCode.FrameTooLarge, message, { details: { length } });
}

/** Bytes of the batch these messages make. */
function batchLengthOfPrepared(messages: readonly PreparedMessage[]): number {
  let length = BATCH_HEADER_LENGTH;
  for (const message of messages) length += message.frameLength;
  return length;
}

function answer(error: CodedError | undefined, payload: Uint8Array, done: BatchRequest["done"]): void {
  let failure = error;
  let confirmations: readonly SendConfirmation[] = [];
  try {
    if (failure === undefined) confirmations = decodeBody(decodeSendMessagesReply, payload);
  } catch (problem) {
    failure = asCoded(problem);
  }
  done(failure, confirmations);
}

function asCoded(error: unknown): CodedError {
  return isCodedError(error)
    ? error
    : new CodedError(ErrorCode.Error, "A batch could not be written.", { cause: error });
}
