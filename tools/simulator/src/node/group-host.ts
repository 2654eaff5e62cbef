import {
  ClientTable,
  createReplica,
  type Input,
  type Output,
  type Prepare,
  type Replica,
  type ReplicaMessage,
} from "@millrace/vsr";
import type { ClientPacket, NodePacket } from "../client/packets.ts";
import { checkPromises } from "../oracle/check-promises.ts";
import type { GroupOracle } from "../oracle/group-oracle.ts";
import type { GroupPlan } from "../seed-plan.ts";
import { hostLine } from "../trace/host-line.ts";
import { inputLine, isQuiet, outputLine } from "../trace/lines.ts";
import { answerOf } from "./answer-of.ts";
import { AppendLog } from "./append-log.ts";
import { checksumOf } from "./checksum-of.ts";
import type { Checkpoint, GroupStore } from "./group-store.ts";
import { recover } from "./recover.ts";
import { encodeOffset } from "./reply-body.ts";
import type { SimNode } from "./sim-node.ts";
import { StateFetch } from "./state-fetch.ts";

/** A client's request on its way through this node, by the op it became. */
interface Waiting {
  readonly checksum: bigint;
  readonly client: bigint;
  readonly request: bigint;
}

/**
 * Performs what one replica asks for: the part that a broker plays around each group. It lives as long as its
 * process; the store stays.
 */
export class GroupHost {
  readonly node: SimNode;
  readonly group: GroupPlan;
  readonly store: GroupStore;
  readonly replica: Replica;
  readonly #oracle: GroupOracle;
  #table: ClientTable | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #inputs: Input[] = [];
  readonly #fetch: StateFetch;
  #log: AppendLog;
  #isStepping = false;
  /** Session of the request being taken. */
  #session = 0;
  /** Committed ops that the state machine has yet to apply. */
  #unapplied: Prepare[] = [];

  constructor(node: SimNode, group: GroupPlan, store: GroupStore) {
    this.node = node;
    this.group = group;
    this.store = store;
    this.#oracle = node.world.oracles[group.group] as GroupOracle;
    this.#fetch = new StateFetch(this);
    const { log, table, recovered } = recover(store, {
      replica: node.index,
      plan: node.world.plan,
      hasClientTable: group.hasClientTable,
      oracle: this.#oracle,
    });
    this.#log = log;
    this.#table = table;
    const { mutation, timing } = node.world.plan;
    if (recovered.mayHaveLost) node.world.counts.harmedStarts += 1;
    this.replica = createReplica({
      replica: node.index,
      replicaCount: node.world.plan.replicaCount,
      cluster: 0n,
      prepareQueueDepth: group.depth,
      recovered,
      checksumOf,
      timing,
      seed: node.world.chance.below(2 ** 32),
      mutations: mutation === undefined || mutation === "reuseOffsets" ? {} : { [mutation]: true },
      ...(table === undefined ? {} : { clientTable: table }),
    });
    node.world.note?.(hostLine(this, "starts", []));
    this.#oracle.onStart(node.index, this.replica);
  }

  /** False once its process has ended. */
  get isAlive(): boolean {
    return this.node.hosts[this.group.group] === this;
  }

  get log(): AppendLog {
    return this.#log;
  }

  /** The state as of now, for a checkpoint or a peer. */
  state(): Checkpoint {
    return { log: this.#log.snapshot(), table: this.#table?.encode() };
  }

  tick(): void {
    this.step({ kind: "tick" });
    const { plan, chance } = this.node.world;
    if (plan.leadPermille > 0 && chance.below(1000) < plan.leadPermille) this.step({ kind: "lead" });
    this.#fetch.tick();
    this.#checkpoint();
  }

  onMessage(from: number, message: ReplicaMessage): void {
    this.step({ kind: "message", from, message });
  }

  /** A client asks. */
  onPacket(packet: ClientPacket): void {
    if (packet.kind === "read") this.#onRead(packet);
    else this.#onRequest(packet);
  }

  #onRequest(packet: ClientPacket & { kind: "request" }): void {
    const { client, session, request, operation, message } = packet;
    const timestamp = this.node.wallMicros;
    const bodyChecksum = BigInt(message);
    const body = { message };
    const fields = { client, session, request, operation, user: 0, timestamp, body, bodyChecksum };
    this.step({ kind: "request", request: fields });
  }

  /** A peer asks for the state. */
  onStateRequest(from: number, op: number): void {
    if (this.#log.op < op) return;
    const state = this.state();
    this.node.sendToNode(from, (node) => node.host(this.group).onState(state));
  }

  /** A peer's state arrives. */
  onState(state: Checkpoint): void {
    this.#fetch.onState(state);
  }

  /** A fetched state is on the disk: the replica goes on from it. */
  install(state: Checkpoint): void {
    const { log, table } = state;
    this.node.world.counts.installs += 1;
    this.#oracle.onInstalled(this.node.index, log);
    this.store.checkpoint = state;
    this.store.journal.reset(log.op, log.checksum);
    this.#log = new AppendLog(log);
    this.#unapplied = [];
    this.#table = table === undefined ? undefined : ClientTable.decode(table);
    const clientTable = this.#table === undefined ? {} : { clientTable: this.#table };
    this.step({ kind: "state-installed", op: log.op, checksum: log.checksum, ...clientTable });
  }

  /** Takes an input, and whatever its outputs bring about at once. */
  step(input: Input): void {
    this.#inputs.push(input);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) this.#take(next);
    this.#isStepping = false;
  }

  #take(input: Input): void {
    const outputs = this.replica.step(input);
    const { note } = this.node.world;
    if (note !== undefined && !isQuiet(input, outputs)) {
      note(hostLine(this, inputLine(input), outputs.map(outputLine)));
    }
    const request = input.kind === "request" ? input.request : undefined;
    this.#session = request?.session ?? 0;
    for (const output of outputs) {
      if (request !== undefined && output.kind === "journal-write") {
        const { op, checksum } = output.prepare;
        this.#oracle.onNumbered(this.node.index, op, this.replica.commit);
        this.#waiting.set(op, { checksum, client: request.client, request: request.request });
      }
      this.#perform(output);
      this.node.world.ambush.pass(output, this.node);
    }
    this.#oracle.onStep(this.node.index, viewOf(this.replica));
  }

  #perform(output: Output): void {
    switch (output.kind) {
      case "send":
        this.#sendToPeer(output.to, output.message);
        break;
      case "journal-write":
        this.#write(output.prepare);
        break;
      case "journal-truncate":
        this.#truncate(output.op);
        break;
      case "persist-view":
        this.#persist(output);
        break;
      case "apply":
        this.#oracle.onCommitted(this.node.index, output.prepare);
        this.#unapplied.push(output.prepare);
        this.#applyLater();
        break;
      case "journal-read":
        this.#read(output);
        break;
      case "request-state":
        this.#fetch.begin(output.from, output.op);
        break;
      default: {
        const answer = answerOf(output, this.#session);
        if (answer !== undefined) this.#send(answer.client, answer.packet);
      }
    }
  }

  #sendToPeer(to: number, message: ReplicaMessage): void {
    if (!this.node.world.plan.isOutcomeOnly) checkPromises(this, message);
    if (isSpokenInView(message)) this.#oracle.onSpoken(this.node.index, message.view);
    const { index, world } = this.node;
    if (message.kind === "startView" && this.#oracle.onBegun(message.view)) world.counts.views += 1;
    this.node.sendToNode(to, (node) => node.host(this.group).onMessage(index, message));
  }

  #write(prepare: Prepare): void {
    const { op, checksum } = prepare;
    this.#oracle.onAccepted(this.node.index, prepare);
    this.store.journal.append(prepare, () => {
      this.#oracle.onWritten(this.node.index, checksum);
      this.#later(() => this.step({ kind: "journal-written", op, checksum }));
    });
  }

  #truncate(op: number): void {
    this.node.world.counts.cuts += 1;
    this.store.journal.truncate(op, () => this.#later(() => this.step({ kind: "journal-truncated", op })));
  }

  #persist({ kind: _, ...fields }: Output & { kind: "persist-view" }): void {
    const { view, logView } = fields;
    this.store.superblock.write(fields, () =>
      this.#later(() => this.step({ kind: "view-persisted", view, logView })),
    );
  }

  #read({ op, checksum, to }: { op: number; checksum: bigint; to: number }): void {
    this.node.device.write(() =>
      this.#later(() => {
        const found = this.store.journal.read(op);
        if (found !== undefined) this.node.world.counts.reads += 1;
        const prepare = checksum === 0n || found?.checksum === checksum ? found : undefined;
        this.step({ kind: "journal-read", op, checksum, to, prepare });
      }),
    );
  }

  /** State machines may take their time; they go on in op order. */
  #applyLater(): void {
    const { applyMeanMicros } = this.node.world.plan;
    if (applyMeanMicros === 0) this.#applyNext();
    else {
      const delay = this.node.device.chance.exponential(applyMeanMicros);
      this.node.world.queue.after(delay, () => this.#later(() => this.#applyNext()));
    }
  }

  /** Nothing is left to apply when a fetched state has taken the place of it. */
  #applyNext(): void {
    const prepare = this.#unapplied.shift();
    if (prepare !== undefined) this.#apply(prepare);
  }

  #apply(prepare: Prepare): void {
    const { op, checksum, client, request } = prepare;
    const offset = this.#log.apply(prepare);
    this.#oracle.onApplied(this.node.index, op, offset);
    const waiting = this.#waiting.get(op);
    this.#waiting.delete(op);
    if (this.#table !== undefined) this.step({ kind: "applied", op, reply: encodeOffset(offset) });
    else if (waiting?.checksum === checksum) this.#send(client, { kind: "reply", request, op, offset });
  }

  #checkpoint(): void {
    const { checkpointOps, keptOps } = this.node.world.plan;
    const { journal, checkpoint } = this.store;
    if (this.#log.op < checkpoint.log.op + checkpointOps) return;
    this.store.checkpoint = this.state();
    journal.trim(Math.min(this.#log.op - keptOps, journal.syncedOp));
  }

  #onRead({ client, read, ownEnd, offset }: ClientPacket & { kind: "read" }): void {
    const { nextOffset } = this.#log;
    if (nextOffset < ownEnd) return;
    const message = this.#log.messageAt(offset);
    this.#send(client, { kind: "read", read, nextOffset, offset, message });
  }

  #send(client: bigint, packet: NodePacket): void {
    this.node.sendToClient(client, packet);
  }

  /** Completions come to the process that asked for them, and wait while it stands still. */
  #later(act: () => void): void {
    this.node.give(() => {
      if (this.isAlive) act();
    });
  }
}

/** What only a member of a view says, not one that asks for it or for its log. */
function isSpokenInView({ kind }: ReplicaMessage): boolean {
  return kind === "prepareOk" || kind === "commit" || kind === "doViewChange" || kind === "startView";
}

function viewOf({ view, logView, op, commit }: Replica) {
  return { view, logView, op, commit };
}
