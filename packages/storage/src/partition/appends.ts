import { assert, CodedError, ErrorCode } from "@millrace/errors";
import {
  baseOffsetAt,
  baseTimestampAt,
  batchChecksumAt,
  type Lease,
  messageCountAt,
} from "@millrace/framing";
import type { OpHeader } from "../op-record/op-header.ts";
import { decodeSmallOperation } from "../op-record/small-operation.ts";
import { rememberedOperation } from "../requests/remembered-request.ts";
import type { GroupWriter } from "./group-writer.ts";
import type { AppendDone, BatchBytes, OpEntry } from "./op-entry.ts";
import { partitionClosed } from "./partition-closed.ts";
import type { PartitionOptions } from "./partition-options.ts";
import { moveTo, type PartitionState } from "./partition-state.ts";
import { rememberedSend, writeInstead } from "./stored-form.ts";
import type { Tails } from "./tails.ts";

/** What an append may say about its batch besides its header. */
export interface BatchFacts {
  /**
   * The batch as it was sent and stamped, when the one to be stored is encrypted: what is cached and served
   * from memory.
   */
  readonly clearLease?: Lease | undefined;
  /**
   * Another replica has encrypted the batch: what it holds is not at hand, so it is read from the files.
   */
  readonly isSealed?: boolean;
  /** The client's number stands for this request alone, so it is remembered and a repetition is known. */
  readonly isNumbered?: boolean;
}

/** What appends work with. */
export interface AppendParts {
  readonly options: Pick<PartitionOptions, "kernel" | "pool" | "tailCache" | "batchCipher">;
  readonly state: PartitionState;
  /** Nothing for a partition that must not be written. */
  readonly writer: GroupWriter | undefined;
  readonly tails: Tails;
}

const NO_FACTS: BatchFacts = {};

/** Takes ops in: checks that each follows the one before, caches batches, and hands them to the writer. */
export class Appends {
  readonly #parts: AppendParts;
  #isClosed = false;

  constructor(parts: AppendParts) {
    this.#parts = parts;
  }

  /** See `Partition.appendBatch`. */
  batch(header: OpHeader, batchLease: Lease, done: AppendDone, facts: BatchFacts = NO_FACTS): void {
    const { clearLease, isSealed, isNumbered } = facts;
    const { state, options } = this.#parts;
    const { accepted } = state;
    const { position } = batchLease;
    assert(position >= 0, "a batch lies in the kernel's memory");
    const { kernel, batchCipher } = options;
    const isEncrypted = clearLease !== undefined || isSealed === true;
    assert(isEncrypted === (batchCipher !== undefined), "what is stored is encrypted where the directory is");
    const { view } = kernel.memory;
    const baseOffset = baseOffsetAt(view, position);
    const count = messageCountAt(view, position);
    assert(baseOffset >= accepted.nextOffset, "a batch does not reuse offsets");
    assert(baseTimestampAt(view, position) === header.timestamp, "a batch carries the time of its op");
    if (this.#refuses(header, done)) return;
    const { timestamp } = header;
    const lease = clearLease ?? batchLease;
    const batch: BatchBytes = {
      lease,
      position: lease.position,
      length: lease.length,
      baseOffset,
      endOffset: baseOffset + count,
      count,
      timestamp,
      checksum: batchChecksumAt(view, position),
    };
    const { generation } = accepted;
    this.#cache(generation, batch, isSealed === true);
    const storedLength = batchLease.length;
    const request =
      isNumbered === true ? rememberedSend(header, batch, { isEncrypted, storedLength }) : undefined;
    if (clearLease !== undefined) writeInstead(batch, batchLease);
    const { endOffset } = batch;
    this.#accept({ header, generation, endOffset, batch, small: undefined, request, done });
  }

  /**
   * Keeps a batch for readers at the end and holds its bytes. One that is sealed is for nobody: as a tail has
   * no holes, what was kept before it goes.
   */
  #cache(generation: number, batch: BatchBytes, isSealed: boolean): void {
    const { options, tails } = this.#parts;
    const { kernel, pool, tailCache } = options;
    const tail = tails.of(generation);
    if (!isSealed) tailCache.keep(pool, kernel, tail, batch);
    else {
      tailCache.drop(tail);
      batch.lease.retain();
    }
  }

  /** See `Partition.appendOperation`. @throws CodedError `InvalidCommand`; nothing was accepted then */
  operation(header: OpHeader, body: Uint8Array, done: AppendDone, isNumbered: boolean): void {
    const operation = decodeSmallOperation(header.operation, body);
    const { accepted } = this.#parts.state;
    const isPurge = operation.kind === "purge";
    assert(!isPurge || operation.generation > accepted.generation, "a purge moves the generation forward");
    if (this.#refuses(header, done)) return;
    this.#accept({
      header,
      generation: isPurge ? operation.generation : accepted.generation,
      endOffset: isPurge ? 0 : accepted.nextOffset,
      batch: undefined,
      small: { body: body.slice(), operation },
      request: isNumbered ? rememberedOperation(header, body) : undefined,
      done,
    });
  }

  /** Ops that were accepted but not journaled are forgotten, and the cached batches with them. */
  rollBack(): void {
    const { state, tails } = this.#parts;
    state.accepted = { ...state.journaled };
    state.uncommitted.dropAbove(state.journaled.op);
    tails.dropAll();
  }

  /** Refuses what comes from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Checks what every op must meet; calls back later with the reason when the partition takes none. */
  #refuses(header: OpHeader, done: AppendDone): boolean {
    const { state, writer } = this.#parts;
    const { accepted, fault } = state;
    const refusal = this.#isClosed ? partitionClosed() : fault;
    if (writer === undefined || refusal !== undefined) {
      queueMicrotask(() => done(refusal ?? readOnly(), header, 0));
      return true;
    }
    assert(header.op === accepted.op + 1, "ops are appended in order");
    assert(header.parent === accepted.opChecksum, "an op names the one before it as its parent");
    assert(header.timestamp >= accepted.timestamp, "time does not step back within a partition");
    return false;
  }

  #accept(entry: OpEntry): void {
    const { state, writer } = this.#parts;
    moveTo(state.accepted, entry);
    state.uncommitted.push(entry);
    writer?.submit(entry);
  }
}

function readOnly(): CodedError {
  return new CodedError(ErrorCode.InvalidArgument, "The partition was opened read-only.");
}
