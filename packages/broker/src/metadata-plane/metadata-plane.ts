import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { FrameHash } from "@millrace/framing";
import type { Effect, Metadata } from "@millrace/metadata";
import type { Clock, Log } from "@millrace/platform";
import type { MetadataJournal } from "@millrace/storage";
import type { ClientTable, Input, Output, Prepare, PrepareFields, Replica } from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import type { SilentGroups } from "../cluster/silent-groups.ts";
import type { StateWish } from "../cluster/state-transfer/state-fetcher.ts";
import type { StateTransfers } from "../cluster/state-transfer/state-transfers.ts";
import { AdmissionQueue } from "../queues/admission-queue.ts";
import { answerOf } from "./answer-of.ts";
import { Checkpoints } from "./checkpoints.ts";
import { executeOp } from "./execute-op.ts";
import { ForwardedRequests, type ForwardingWire } from "./forwarded-requests.ts";
import { HeldAnswers, type HeldAnswersOptions } from "./held-answers.ts";
import { IncomingMetadata } from "./incoming-metadata.ts";
import { effectsBetween } from "./installed-effects.ts";
import { JournalRetry } from "./journal-retry.ts";
import type { MetadataBody } from "./metadata-body.ts";
import { MetadataReplication } from "./metadata-replication.ts";
import type { MetadataRequest } from "./metadata-request.ts";
import { type RecoveredMetadata, readSuffix } from "./recover-state.ts";
import { replicaOf } from "./replica-of.ts";
import type { LogEnd, MetadataSnapshot } from "./snapshot.ts";
import { refuse, UnderWay } from "./under-way.ts";

/** What the plane is made from. */
export interface MetadataPlaneOptions extends Omit<HeldAnswersOptions, "isReplicated"> {
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: MetadataJournal;
  readonly recovered: RecoveredMetadata;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  readonly prepareQueueDepth: number;
  readonly admissionTimeoutMs: number;
  /** Ops between two snapshots. */
  readonly snapshotEveryOps: number;
  /** The other replicas of the group; absent where there are none. */
  readonly peers?: (GroupPeers & ForwardingWire) | undefined;
  /** Hears of it when the replica is silent; given on a node of a cluster. */
  readonly silent?: SilentGroups | undefined;
  /** The way of states between nodes; given with `peers`. */
  readonly transfers?: Pick<StateTransfers, "fetch" | "cancel"> | undefined;
  readonly hash: FrameHash;
  /** Sessions of a client table. */
  readonly clientsMax: number;
  /**
   * Carries out what a committed op asks of partitions; the reply to its client leaves when it settles.
   * @param view  in which the op got its number: the same on every replica; nothing when it is not known
   * @returns false when nobody on this node can tell whether partitions did it: then the client hears 57
   */
  perform(effects: readonly Effect[], view: number | undefined): Promise<boolean>;
}

const METADATA_GROUP = { kind: "metadata" } as const;

/**
 * The metadata group: a consensus group over the catalog and the client table.
 *
 * Operations are journaled, then executed in op order. A request is answered once its op is executed and
 * partitions have done their part, so what a client was told to exist can be used. On a backup requests go to
 * the primary and are answered once their op is executed here.
 */
export class MetadataPlane {
  readonly #options: MetadataPlaneOptions;
  readonly #queue: AdmissionQueue<MetadataRequest>;
  readonly #replication: MetadataReplication | undefined;
  readonly #retry: JournalRetry;
  /** Requests between this node and the primary's; nothing where there is no other node. */
  readonly forwarded: ForwardedRequests | undefined;
  readonly #underWay = new UnderWay();
  readonly #held: HeldAnswers;
  #replica: Replica;
  #clientTable: ClientTable;
  #end: LogEnd;
  #lastTimestamp: number;
  #writesPending = 0;
  #failure: CodedError | undefined = undefined;
  #isStopped = false;
  readonly #checkpoints: Checkpoints;

  constructor(options: MetadataPlaneOptions) {
    const { log, journal, recovered, peers } = options;
    this.#options = options;
    this.#checkpoints = new Checkpoints(options);
    this.#end = recovered.end;
    this.#clientTable = recovered.state.clientTable;
    this.#lastTimestamp = (recovered.suffix.at(-1) ?? recovered.end).timestamp;
    const step = (input: Input) => this.#step(input);
    const fetchState = (wish: Pick<StateWish, "from" | "op">) => this.#fetchState(wish);
    const cancelFetch = () => options.transfers?.cancel(METADATA_GROUP);
    const { clock, silent } = options;
    this.#retry = new JournalRetry(clock);
    const parts = { clock, log, journal, step, fetchState, cancelFetch };
    this.#replication = peers && silent && new MetadataReplication({ ...parts, peers, silent });
    this.#held = new HeldAnswers({ ...options, isReplicated: this.isReplicated }, recovered.end.op);
    this.forwarded = peers && this.#forwardOver(peers);
    this.#replica = this.#createReplica(recovered.suffix);
    this.#queue = new AdmissionQueue({
      clock: options.clock,
      timeoutMs: options.admissionTimeoutMs,
      onLate: (request) => refuse(request, ErrorCode.TransientNotAccepted),
    });
  }

  /** Streams, topics and users as of the last executed op. Read it, never keep it: it changes in place. */
  get catalog(): Metadata {
    return this.#options.recovered.state.catalog;
  }

  get clientTable(): ClientTable {
    return this.#clientTable;
  }

  /** Last executed op. */
  get commit(): number {
    return this.#end.op;
  }

  get view(): number {
    return this.#replica.view;
  }

  /** This node's replica of the group, to be looked at; another one once the cluster has formed. */
  get replica(): Replica {
    return this.#replica;
  }

  /** True in a cluster of several nodes. */
  get isReplicated(): boolean {
    return this.#replication !== undefined;
  }

  /** True when this replica numbers the group's requests; always where there is no other. */
  get isPrimary(): boolean {
    return this.#replica.isPrimary && !this.isSilent;
  }

  /** A replica of several that cannot keep what it would promise, or that has stopped. */
  get isSilent(): boolean {
    return this.#replication?.isStopped === true;
  }

  /** The replica that numbers requests, as far as this one knows; nothing while a view has not begun. */
  get primary(): number | undefined {
    const { status, view } = this.#replica;
    const replicaCount = this.#options.peers?.options.replicaCount ?? 1;
    return status === "normal" && !this.isSilent ? view % replicaCount : undefined;
  }

  /**
   * True when a request of this client is under way here. While requests wait for room anybody's may be among
   * them.
   */
  mayHaveRequestOf(client: bigint): boolean {
    return this.#queue.count > 0 || this.#underWay.hasRequestOf(client);
  }

  /**
   * Whether what the catalog does not hold is not there. A node of a cluster that is forming, or that was not
   * taken in yet, knows nobody: every cluster has a user.
   */
  get isInformed(): boolean {
    return !this.isReplicated || (this.primary !== undefined && this.catalog.counts().users > 0);
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

  /** True while this replica has never spoken and learned nothing from the others: it has nothing to lose. */
  get mayBecomeNew(): boolean {
    return this.#replication?.hasSpoken === false && this.#isUntouched;
  }

  get #isUntouched(): boolean {
    return this.#replica.op === 0 && this.#replica.status !== "normal";
  }

  /** The whole group has just been made: this replica, which never spoke, begins with an empty log. */
  becomeNew(): void {
    this.#replication?.noteFormed(() => {
      if (!this.#isUntouched) return;
      this.#replica = this.#createReplica([], "new");
      this.#pump();
    });
  }

  /** The state as of the last executed op. */
  snapshot(): MetadataSnapshot {
    return { state: { catalog: this.catalog, clientTable: this.#clientTable }, end: this.#end };
  }

  #fetchState({ from, op }: Pick<StateWish, "from" | "op">): void {
    const { hash, clientsMax } = this.#options;
    const install = (state: MetadataSnapshot, bytes: Uint8Array) => this.#install(state, bytes);
    const sink = () => new IncomingMetadata({ hash, clientsMax, install });
    this.#options.transfers?.fetch({ group: METADATA_GROUP, from, op, sink });
  }

  /** Takes another replica's state, when this one still waits for it. */
  async #install(state: MetadataSnapshot, bytes: Uint8Array): Promise<void> {
    const { op, checksum: opChecksum, view } = state.end;
    const isWanted = () => (this.#replica.stateAwaited ?? Number.POSITIVE_INFINITY) <= op;
    await this.#replication?.install({ op, opChecksum, view, bytes }, isWanted, () => this.#become(state));
  }

  /** Partitions come and go as if the ops in between had been executed. */
  #become({ state: { catalog, clientTable }, end }: MetadataSnapshot): void {
    const effects = effectsBetween(this.catalog, catalog);
    this.catalog.become(catalog);
    this.#clientTable = clientTable;
    this.#end = end;
    this.#held.jumpedTo(end.op);
    this.#lastTimestamp = Math.max(this.#lastTimestamp, end.timestamp);
    const { op, checksum } = end;
    this.#underWay.after(this.#options.perform(effects, undefined), () => {
      this.forwarded?.executed(op);
      this.#underWay.tellIdle();
    });
    this.#refuseInFlight(ErrorCode.TransientNotCommitted);
    this.#replication?.hear({ kind: "state-installed", op, checksum, clientTable });
  }

  /** Hands a tick or a message of another replica to the group. */
  hear(input: Input): void {
    this.#replication?.hear(input);
  }

  /** Tells all other nodes what is committed, ahead of the next broadcast. */
  tellCommit(): void {
    const { replica = 0, replicaCount = 1 } = this.#options.peers?.options ?? {};
    for (let to = 0; to < replicaCount; to += 1)
      if (to !== replica) this.#replication?.tellCommit(to, this.#replica);
  }

  #forwardOver(peers: GroupPeers & ForwardingWire): ForwardedRequests {
    const { clock, admissionTimeoutMs: timeoutMs } = this.#options;
    return new ForwardedRequests({
      ...{ clock, wire: peers, timeoutMs, seed: peers.options.seed ?? 0 },
      commit: () => this.#end.op,
      onRoom: () => this.#pump(),
      tellCommit: (to) => this.#replication?.tellCommit(to, this.#replica),
      submitHere: (request) => {
        if (this.isPrimary) this.submit(request);
        else refuse(request, ErrorCode.TransientNotAccepted);
      },
    });
  }

  /** Refuses what waits, lets what is in flight end, and closes the journal. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const request of this.#queue.drain()) refuse(request, ErrorCode.ShuttingDown);
    this.#retry.stop();
    const journalIdle = this.#replication?.stop();
    this.forwarded?.stop();
    if (this.#replication !== undefined) this.#refuseInFlight(ErrorCode.TransientNotCommitted);
    await journalIdle;
    await this.#underWay.idle();
    await this.#checkpoints.idle();
    await this.#options.journal.close();
  }

  #pump(): void {
    while (this.#failure === undefined) {
      const { isPrimary, primary, forwarded } = this;
      const isFull = isPrimary ? this.#replica.pipelineFree === 0 : forwarded?.hasRoom === false;
      if (isFull || (!isPrimary && primary === undefined)) return;
      const request = this.#queue.shift();
      if (request === undefined) return;
      if (request.isWanted?.() === false) refuse(request, ErrorCode.TransientNotAccepted);
      else if (isPrimary || primary === undefined) this.#propose(request);
      else forwarded?.forward(primary, request);
    }
  }

  #propose(request: MetadataRequest): void {
    const timestamp = Math.max(this.#options.clock.wallMicros(), this.#lastTimestamp);
    const { client, session, operation, user, bodyChecksum, body: bytes } = request;
    const body: MetadataBody = { bytes, request };
    const outputs = this.#replica.step({
      kind: "request",
      request: { client, session, request: request.request, operation, user, timestamp, body, bodyChecksum },
    });
    this.#perform(outputs, request);
  }

  #step(input: Input): void {
    this.#perform(this.#replica.step(input));
    if (this.#replica.status === "normal") this.#replication?.noteTakenIn(this.#replica.op);
    this.#pump();
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
          this.#answer(output, request);
          break;
        default:
          this.#replication?.perform(output);
      }
    }
  }

  #answer(output: Parameters<typeof answerOf>[0], request: MetadataRequest | undefined): void {
    const context = "context" in output ? (output.context as MetadataBody | undefined) : undefined;
    const asked = context === undefined ? request : context.request;
    if (asked === undefined) return;
    this.#underWay.end(asked);
    const held = output.kind === "replay" ? this.#held.whenRepeated(output.op, output.operation) : undefined;
    if (held === undefined) asked.answered(answerOf(output));
    else this.#answerHeld(held, output, asked);
    this.#underWay.tellIdle();
  }

  #answerHeld(held: Promise<boolean>, output: Parameters<typeof answerOf>[0], asked: MetadataRequest): void {
    this.#underWay.after(held, (isHeld) => {
      if (isHeld) asked.answered(answerOf(output));
      else refuse(asked, ErrorCode.TransientNotCommitted);
      this.#underWay.tellIdle();
    });
  }

  #journal(prepare: Prepare): void {
    const { bytes, request } = prepare.body as MetadataBody;
    this.#lastTimestamp = prepare.timestamp;
    if (request !== undefined) this.#underWay.begin(request);
    this.#writesPending += 1;
    const header = { ...prepare, session: BigInt(prepare.session) };
    this.#options.journal.append(header, bytes, (error) => this.#written(prepare, error));
  }

  #written(prepare: Prepare, error: CodedError | undefined): void {
    this.#writesPending -= 1;
    if (error !== undefined) this.#failure ??= error;
    if (this.#failure === undefined) {
      const { op, checksum } = prepare;
      this.#retry.worked();
      this.#perform(this.#replica.step({ kind: "journal-written", op, checksum }));
    } else if (this.#writesPending === 0) this.#startOver(this.#failure);
    this.#pump();
  }

  #execute(prepare: Prepare): void {
    const { bytes, request } = prepare.body as MetadataBody;
    if (request !== undefined) this.#underWay.end(request);
    const { op, view, checksum, timestamp, operation, client, session, user } = prepare;
    const { body, effects } = executeOp(this.catalog, {
      ...{ op, operation, timestamp, client, session, user },
      body: bytes,
    });
    this.#end = { op, view, checksum, timestamp };
    // Nothing follows that would carry it: the others execute it now and not with the next broadcast.
    if (op === this.#replica.op) this.tellCommit();
    const answers = this.#replica.step({ kind: "applied", op, reply: body });
    const executed = (isDone: boolean) => this.#executed(isDone ? answers : answers.map(unsure), op, request);
    if (effects.length === 0) executed(true);
    else this.#underWay.after(this.#performed(effects, prepare, request), executed);
    this.#checkpoints.takeWhenDue(() => this.snapshot());
  }

  async #performed(
    effects: readonly Effect[],
    { op, view, operation }: Prepare,
    request: MetadataRequest | undefined,
  ): Promise<boolean> {
    const performed = this.#options.perform(effects, view);
    const held = this.#held.afterExecuting(op, operation, request !== undefined);
    return (await performed) && (await held) !== false;
  }

  #executed(answers: readonly Output[], op: number, request: MetadataRequest | undefined): void {
    this.#perform(answers, request);
    this.forwarded?.executed(op);
    this.#underWay.tellIdle();
  }

  /**
   * A journal write failed: every op after the last executed one is refused, and the group goes on from
   * there. A replica of several cannot unsay what it has told the others: it stays silent until it is
   * started again, or begins anew when it was a full disk.
   */
  #startOver(failure: CodedError): void {
    this.#options.log.error("The metadata journal could not be written.", { code: failure.code });
    if (this.#replication === undefined) {
      this.#failure = undefined;
      this.#replica = this.#createReplica([]);
      this.#refuseInFlight(failure.code);
    } else {
      this.#replication.fail(failure);
      this.#refuseInFlight(ErrorCode.TransientNotCommitted);
      if (isCodedError(failure, ErrorCode.DiskFull)) this.#retry.later(() => void this.#beginAnew());
    }
  }

  /** What the journal holds is what it has told the others: it goes on from there, as at a start. */
  async #beginAnew(): Promise<void> {
    // A stop closes the journal.
    const read = async () => (this.#isStopped ? [] : readSuffix(this.#options.journal, this.#end.op));
    const begin = (suffix: readonly Prepare[]) => {
      if (this.#isStopped) return;
      this.#failure = undefined;
      this.#replica = this.#createReplica(suffix);
    };
    await this.#replication?.beginAnew(read, begin).catch((error: unknown) => {
      this.#options.log.error("The metadata journal could not be read again; start this node anew.", {
        error,
      });
    });
  }

  #refuseInFlight(code: number): void {
    this.#underWay.refuseAll(code);
  }

  #createReplica(suffix: readonly Prepare[], how?: "new"): Replica {
    const beginning = { end: this.#end, suffix, isNew: how === "new", clientTable: this.#clientTable };
    return replicaOf(this.#options, beginning);
  }
}

/** The op is executed, and what it asked of partitions may not be done. */
function unsure(output: Output): Output {
  if (output.kind !== "reply") return output;
  const { client, request, operation, context } = output;
  return { kind: "reject", code: ErrorCode.TransientNotCommitted, client, request, operation, context };
}
