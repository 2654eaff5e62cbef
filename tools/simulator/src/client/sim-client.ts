import { SessionOperation } from "@millrace/vsr";
import type { Chance } from "../engine/chance.ts";
import { Operation } from "../node/operation.ts";
import type { GroupOracle } from "../oracle/group-oracle.ts";
import { Violation } from "../oracle/violation.ts";
import type { GroupPlan } from "../seed-plan.ts";
import { timeText } from "../trace/host-line.ts";
import { addressOf, type World } from "../world.ts";
import type { ClientPacket, NodePacket } from "./packets.ts";

/** A request without an answer is sent again after so long, and up to three times that. */
const PATIENCE_MICROS = 400_000;
/** Somebody who cannot take it says so at once; asking again waits a little. */
const REFUSED_PAUSE_MICROS = 30_000;
/** One of so many answers is followed by a read. */
const READ_EVERY = 3;
/** One of so many answers is followed by the end of the session, and a new one. */
const LOGOUT_EVERY = 25;
const REGISTER = 0n;

interface Outstanding {
  readonly request: bigint;
  readonly operation: number;
  readonly message: number;
  attempt: number;
}

/**
 * A client of one group: registers where sessions are kept, appends messages, sends again what is not
 * answered under the same identity, to one node after the other, and reads what it wrote from any.
 */
export class SimClient {
  readonly index: number;
  /** Requests that were answered. */
  answered = 0;
  readonly #world: World;
  readonly #group: GroupPlan;
  readonly #oracle: GroupOracle;
  readonly #chance: Chance;
  readonly #outstanding = new Map<bigint, Outstanding>();
  #session = 0;
  #isRegistered: boolean;
  #request = 0n;
  #target: number;
  /** Messages up to the last one that was confirmed to it; every read must hold them. */
  #ownEnd = 0;
  #reads = 0;
  #readOwnEnds = new Map<number, number>();
  #isEnding = false;

  constructor(world: World, group: GroupPlan, index: number) {
    this.index = index;
    this.#world = world;
    this.#group = group;
    this.#oracle = world.oracles[group.group] as GroupOracle;
    this.#chance = world.chance.fork();
    this.#target = this.#chance.below(world.plan.replicaCount);
    this.#isRegistered = !group.hasClientTable;
  }

  /** Its id in the group; 0 is the host's own. */
  get id(): bigint {
    return BigInt(this.index + 1);
  }

  /** Everything it asked for is answered, its last request too. */
  get isDone(): boolean {
    return this.#isEnding && this.#isRegistered && this.#outstanding.size === 0;
  }

  begin(): void {
    if (!this.#isRegistered) this.#register();
    else for (let slot = 0; slot < this.#group.window; slot += 1) this.#thinkAndAppend();
  }

  /** Begins a last request and none after it. */
  end(): void {
    this.#isEnding = true;
    if (this.#isRegistered && this.#outstanding.size < this.#group.window) this.#append();
  }

  /** What it waits for, for people who look at a run without progress. */
  toString(): string {
    return `client ${this.id} waits for requests ${[...this.#outstanding.keys()].join(", ")}`;
  }

  onPacket(from: number, packet: NodePacket): void {
    if (packet.kind === "reply") this.#onReply(from, packet);
    else if (packet.kind === "reject") this.#onReject(packet);
    else if (packet.kind === "evict") this.#onEvict(packet);
    else this.#onRead(packet);
  }

  #onReply(from: number, { request, op, offset }: NodePacket & { kind: "reply" }): void {
    const outstanding = this.#outstanding.get(request);
    if (outstanding === undefined) return;
    this.#outstanding.delete(request);
    this.#target = from;
    if (outstanding.operation === SessionOperation.register) this.#onRegistered(op);
    else if (outstanding.operation === SessionOperation.logout) this.#register();
    else this.#onAppended(outstanding, offset);
  }

  #onAppended({ request, message }: Outstanding, offset: number): void {
    this.#note(`request ${request} is message ${message} at offset ${offset}`);
    this.#oracle.onAnswer(this.id, request, message, offset);
    this.#ownEnd = Math.max(this.#ownEnd, offset + 1);
    this.answered += 1;
    if (this.#chance.below(READ_EVERY) === 0) this.#read();
    if (this.#isEnding) return;
    if (this.#group.hasClientTable && this.#chance.below(LOGOUT_EVERY) === 0) this.#logout();
    else this.#thinkAndAppend();
  }

  #onRegistered(session: number): void {
    this.#note(`has session ${session}`);
    this.#session = session;
    this.#isRegistered = true;
    if (this.#outstanding.size > 0)
      for (const outstanding of this.#outstanding.values()) this.#send(outstanding);
    else if (this.#isEnding) this.#append();
    else this.#thinkAndAppend();
  }

  #onReject({ request, code }: NodePacket & { kind: "reject" }): void {
    const outstanding = this.#outstanding.get(request);
    if (outstanding === undefined) return;
    if (code === 59)
      throw new Violation("lost", `request ${request} of client ${this.id} has lost its answer`);
    this.#turn();
    this.#sendLater(outstanding, REFUSED_PAUSE_MICROS * (1 + this.#chance.fraction()));
  }

  /** Unknown, or fenced by a Register of its own that came twice: it registers again and goes on. */
  #onEvict({ session, reason }: NodePacket & { kind: "evict" }): void {
    if (!this.#isRegistered || session !== this.#session) return;
    this.#oracle.onEvicted(this.id, session, reason);
    this.#isRegistered = false;
    this.#register();
  }

  #register(): void {
    if (this.#outstanding.has(REGISTER)) return;
    const outstanding = { request: REGISTER, operation: SessionOperation.register, message: 0, attempt: 0 };
    this.#outstanding.set(REGISTER, outstanding);
    this.#send(outstanding);
  }

  #logout(): void {
    this.#request += 1n;
    const { logout } = SessionOperation;
    const outstanding = { request: this.#request, operation: logout, message: 0, attempt: 0 };
    this.#outstanding.set(this.#request, outstanding);
    this.#send(outstanding);
  }

  #thinkAndAppend(): void {
    const pause = this.#chance.exponential(this.#group.thinkMeanMicros);
    this.#world.queue.after(pause, () => {
      const isFree = this.#isRegistered && this.#outstanding.size < this.#group.window;
      if (isFree && !this.#isEnding) this.#append();
    });
  }

  #append(): void {
    this.#request += 1n;
    const message = this.index * 1_000_000 + Number(this.#request);
    const outstanding = { request: this.#request, operation: Operation.append, message, attempt: 0 };
    this.#outstanding.set(this.#request, outstanding);
    this.#send(outstanding);
  }

  #sendLater(outstanding: Outstanding, pauseMicros: number): void {
    outstanding.attempt += 1;
    const { attempt } = outstanding;
    this.#world.queue.after(pauseMicros, () => {
      if (this.#outstanding.get(outstanding.request) !== outstanding) return;
      if (outstanding.attempt === attempt) this.#send(outstanding);
    });
  }

  #send(outstanding: Outstanding): void {
    const { request, operation, message } = outstanding;
    const isRegister = operation === SessionOperation.register;
    if (isRegister || this.#isRegistered) {
      const session = isRegister ? 0 : this.#session;
      this.#sendTo(this.#target, { kind: "request", client: this.id, session, request, operation, message });
    }
    outstanding.attempt += 1;
    const { attempt } = outstanding;
    this.#world.queue.after(PATIENCE_MICROS * (1 + 2 * this.#chance.fraction()), () => {
      if (this.#outstanding.get(request) !== outstanding || outstanding.attempt !== attempt) return;
      this.#turn();
      this.#send(outstanding);
    });
  }

  #read(): void {
    this.#reads += 1;
    this.#readOwnEnds.set(this.#reads, this.#ownEnd);
    const offset = this.#chance.below(this.#ownEnd);
    const to = this.#chance.below(this.#world.plan.replicaCount);
    this.#sendTo(to, { kind: "read", client: this.id, read: this.#reads, ownEnd: this.#ownEnd, offset });
  }

  #onRead(packet: NodePacket & { kind: "read" }): void {
    const ownEnd = this.#readOwnEnds.get(packet.read);
    if (ownEnd !== undefined) this.#oracle.onRead(packet, ownEnd);
    this.#readOwnEnds.delete(packet.read);
  }

  #turn(): void {
    this.#target = (this.#target + 1) % this.#world.plan.replicaCount;
  }

  #sendTo(to: number, packet: ClientPacket): void {
    const node = this.#world.nodes[to];
    if (node === undefined) return;
    this.#world.network.send(addressOf(this.#world, this), to, () =>
      node.receive(() => node.host(this.#group).onPacket(packet)),
    );
  }

  #note(what: string): void {
    const { note, queue } = this.#world;
    note?.(`${timeText(queue.nowMicros)} c${this.id} g${this.#group.group} ${what}`);
  }
}
