import { assert, type CodedError, ErrorCode } from "@millrace/errors";
import type { Effect, Metadata } from "@millrace/metadata";
import type { Clock, Log } from "@millrace/platform";
import type { MetadataJournal } from "@millrace/storage";
import {
  type ClientTable,
  createReplica,
  type Output,
  type Prepare,
  type PrepareFields,
  type Replica,
} from "@millrace/vsr";
import { AdmissionQueue } from "../queues/admission-queue.ts";
import { executeOp } from "./execute-op.ts";
import type { MetadataAnswer, MetadataRequest } from "./metadata-request.ts";
import { encodeSnapshot, type LogEnd, type MetadataState } from "./snapshot.ts";

/** What the plane is made from. */
export interface MetadataPlaneOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: MetadataJournal;
  readonly state: MetadataState;
  readonly end: LogEnd;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  readonly prepareQueueDepth: number;
  readonly admissionTimeoutMs: number;
  /** Ops between two snapshots. */
  readonly snapshotEveryOps: number;
  /** Carries out what a committed op asks of partitions; the reply to its client leaves when it settles. */
  perform(effects: readonly Effect[]): Promise<void>;
}

/**
 * The metadata group: a consensus group of one replica over the catalog and the client table.
 *
 * Operations are journaled, then executed in op order. A request is answered once its op is executed and
 * partitions have done their part, so what a client was told to exist can be used.
 */
export class MetadataPlane {
  readonly #options: MetadataPlaneOptions;
  readonly #queue: AdmissionQueue<MetadataRequest>;
  /** Prepared and not executed, in op order. */
  #inFlight: MetadataRequest[] = [];
  #replica: Replica;
  #end: LogEnd;
  #lastTimestamp: number;
  #writesPending = 0;
  #failure: CodedError | undefined = undefined;
  #isStopped = false;
  readonly #whenIdle: (() => void)[] = [];
  #checkpoint: Promise<void> | undefined = undefined;
  readonly #effects = new Set<Promise<void>>();

  constructor(options: MetadataPlaneOptions) {
    this.#options = options;
    this.#end = options.end;
    this.#lastTimestamp = options.end.timestamp;
    this.#replica = this.#createReplica();
    this.#queue = new AdmissionQueue({
      clock: options.clock,
      timeoutMs: options.admissionTimeoutMs,
      onLate: (request) => refuse(request, ErrorCode.TransientNotAccepted),
    });
  }

  /** Streams, topics and users as of the last executed op. Read it, never keep it: it changes in place. */
  get catalog(): Metadata {
    return this.#options.state.catalog;
  }

  get clientTable(): ClientTable {
    return this.#options.state.clientTable;
  }

  /** Last executed op. */
  get commit(): number {
    return this.#end.op;
  }

  get view(): number {
    return this.#replica.view;
  }

  /** Asks the group; `request.answered` is called once. */
  submit(request: MetadataRequest): void {
    if (this.#isStopped) {
      refuse(request, ErrorCode.ShuttingDown);
      return;
    }
    this.#queue.push(request);
    this.#pump();
    this.#queue.watch();
  }

  /** Refuses what waits, lets what is in flight end, and closes the journal. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const request of this.#queue.drain()) refuse(request, ErrorCode.ShuttingDown);
    await this.#idle();
    await this.#checkpoint;
    await this.#options.journal.close();
  }

  /** Settles when nothing is in flight and partitions have done what they were asked. */
  #idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#tellIdle();
    });
  }

  #tellIdle(): void {
    if (this.#inFlight.length > 0 || this.#effects.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #pump(): void {
    while (this.#failure === undefined && this.#replica.pipelineFree > 0) {
      const request = this.#queue.shift();
      if (request === undefined) return;
      this.#propose(request);
    }
  }

  #propose(request: MetadataRequest): void {
    const timestamp = Math.max(this.#options.clock.wallMicros(), this.#lastTimestamp);
    const { client, session, operation, user, bodyChecksum } = request;
    const outputs = this.#replica.step({
      kind: "request",
      request: {
        client,
        session,
        request: request.request,
        operation,
        user,
        timestamp,
        body: request,
        bodyChecksum,
      },
    });
    this.#perform(outputs, request);
  }

  /**
   * @param request  whom an output without a context is for: the one just proposed, or the one just executed
   */
  #perform(outputs: readonly Output[], request?: MetadataRequest): void {
    for (const output of outputs) {
      switch (output.kind) {
        case "journal-write":
          this.#journal(output.prepare);
          break;
        case "apply":
          this.#execute(output.prepare);
          break;
        case "reply":
        case "replay":
        case "reject":
        case "evict":
        case "drop":
          if (request !== undefined) request.answered(answerOf(output));
          break;
        default:
          assert(false, `a metadata group of one replica never asks for ${output.kind}`);
      }
    }
  }

  #journal(prepare: Prepare): void {
    const request = prepare.body as MetadataRequest;
    this.#lastTimestamp = prepare.timestamp;
    this.#inFlight.push(request);
    this.#writesPending += 1;
    const header = { ...prepare, session: BigInt(prepare.session) };
    this.#options.journal.append(header, request.body, (error) => this.#written(prepare, error));
  }

  #written(prepare: Prepare, error: CodedError | undefined): void {
    this.#writesPending -= 1;
    if (error !== undefined) this.#failure ??= error;
    if (this.#failure === undefined) {
      const { op, checksum } = prepare;
      this.#perform(this.#replica.step({ kind: "journal-written", op, checksum }));
    } else if (this.#writesPending === 0) this.#startOver(this.#failure);
    this.#pump();
  }

  #execute(prepare: Prepare): void {
    const request = prepare.body as MetadataRequest;
    assert(this.#inFlight.shift() === request, "metadata ops are executed in the order they were prepared");
    const { op, view, checksum, timestamp, operation, client, session, user } = prepare;
    const { body, effects } = executeOp(this.catalog, {
      op,
      operation,
      timestamp,
      client,
      session,
      user,
      body: request.body,
    });
    this.#end = { op, view, checksum, timestamp };
    const answers = this.#replica.step({ kind: "applied", op, reply: body });
    if (effects.length === 0) this.#perform(answers, request);
    else this.#performAfter(effects, answers, request);
    this.#maybeSnapshot();
    this.#tellIdle();
  }

  #performAfter(effects: readonly Effect[], answers: readonly Output[], request: MetadataRequest): void {
    const done = this.#options.perform(effects).then(() => {
      this.#effects.delete(done);
      this.#perform(answers, request);
      this.#tellIdle();
    });
    this.#effects.add(done);
  }

  /**
   * A journal write failed: every op after the last executed one is refused, and the group goes on from
   * there.
   */
  #startOver(failure: CodedError): void {
    this.#options.log.error("The metadata journal could not be written.", { code: failure.code });
    this.#failure = undefined;
    this.#replica = this.#createReplica();
    const refused = this.#inFlight;
    this.#inFlight = [];
    for (const request of refused) refuse(request, failure.code);
    this.#tellIdle();
  }

  #createReplica(): Replica {
    const { op, view, checksum } = this.#end;
    return createReplica({
      replica: 0,
      replicaCount: 1,
      cluster: 0n,
      prepareQueueDepth: this.#options.prepareQueueDepth,
      recovered: { view, logView: view, op, commit: op, checksum },
      clientTable: this.clientTable,
      checksumOf: this.#options.checksumOf,
    });
  }

  #maybeSnapshot(): void {
    const { journal, snapshotEveryOps, state, log } = this.#options;
    if (this.#checkpoint !== undefined || journal.recordsSinceSnapshot < snapshotEveryOps) return;
    const { op } = this.#end;
    this.#checkpoint = journal
      .checkpoint(op, encodeSnapshot({ state, end: this.#end }))
      .catch((error: unknown) =>
        log.warn("A metadata snapshot could not be written.", { op, error: String(error) }),
      )
      .finally(() => {
        this.#checkpoint = undefined;
      });
  }
}

function refuse(request: MetadataRequest, code: number): void {
  request.answered({ kind: "refused", code });
}

/**
 * What a client hears. A retry whose body differs from the first is refused instead of left without an
 * answer.
 */
function answerOf(
  output: Extract<Output, { kind: "reply" | "replay" | "reject" | "evict" | "drop" }>,
): MetadataAnswer {
  switch (output.kind) {
    case "reply":
    case "replay": {
      const { op, view, commit, timestamp, operation, body } = output;
      return {
        kind: "reply",
        isRepeated: output.kind === "replay",
        op,
        view,
        commit,
        timestamp,
        operation,
        body,
      };
    }
    case "reject":
      return { kind: "refused", code: output.code };
    case "evict":
      return { kind: "evicted", reason: output.reason };
    case "drop":
      return { kind: "refused", code: ErrorCode.InvalidFormat };
  }
}
