import assert from "node:assert/strict";
import { ClientTable } from "./client-table/client-table.ts";
import { settle } from "./client-table/settle.ts";
import { CLUSTER_TIMING, type ClusterTiming } from "./cluster-timing.ts";
import type { Input } from "./input.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Mutations } from "./mutations.ts";
import type { Output } from "./output.ts";
import { PersistentClient } from "./persistent-client-fixture.test.ts";
import type { Prepare, PrepareFields, Request } from "./prepare.ts";
import { Random } from "./random.ts";
import { Replica } from "./replica.ts";

/** A group whose network and disks do what they like, and an oracle that watches it. */
export interface LossyGroupOptions {
  readonly replicas: number;
  readonly seed: number;
  readonly depth?: number;
  readonly mutations?: Mutations;
  /** Of 1000 messages: lost, repeated, taking up to a hundred times as long; ticks a message may take. */
  readonly lossPermille?: number;
  readonly repeatPermille?: number;
  readonly strayPermille?: number;
  /** Of 1000 ticks of a host: it would rather lead. */
  readonly leadPermille?: number;
  readonly delayTicks?: number;
  /** This replica makes its group some time after the others. */
  readonly late?: number;
  /** A crash of this replica may lose what its journal had written. */
  readonly forgetful?: number;
  /**
   * Now and then a host finds damage in its journal and has its replica fetch a state, or hand over first;
   * the forgetful one also damage that keeps it from reading its journal at a start.
   */
  readonly damages?: boolean;
  /** Journals are cut off at their old end now and then, so that peers need the state. */
  readonly compacts?: boolean;
  readonly clients?: boolean;
  readonly timing?: Partial<ClusterTiming>;
}

interface DiskWork {
  readonly dueTick: number;
  /** What is durable when the work is done; then the replica is told. */
  readonly effect: () => void;
  readonly done: Input | (() => Input | undefined);
}

/** What survives a crash. */
interface Disk {
  /** Ops up to here are in the state, not in the journal. */
  base: number;
  baseChecksum: bigint;
  /** The client table as of `base`. */
  baseTable: Uint8Array | undefined;
  journal: Prepare[];
  superblock: { view: number; logView: number; mayHaveLost: boolean } | undefined;
  /** The journal cannot be read; a peer's state ends that. */
  isDamaged: boolean;
}

interface Host {
  readonly index: number;
  disk: Disk;
  replica: Replica | undefined;
  incarnation: number;
  work: DiskWork[];
  /** Checksums of applied ops; op 1 at index 0. */
  applied: bigint[];
  table: ClientTable | undefined;
  isFetching: boolean;
}

/**
 * A group of simulated hosts: `tick` it, `crash`, `start`, `wipe` and `cut`, and it asserts what must hold.
 */
export class LossyGroup {
  readonly options: LossyGroupOptions;
  readonly random: Random;
  readonly hosts: Host[];
  /** The log the group has agreed on: checksum of each op that was applied anywhere. */
  readonly agreed: bigint[] = [];
  readonly #wires: { dueTick: number; from: number; to: number; message: ReplicaMessage }[] = [];
  /** Links that carry nothing, by from * replicas + to. */
  readonly #cuts = new Set<number>();
  readonly #acting = new Map<number, string>();
  now = 0;
  requests = 0;
  /** Codes with which requests were refused. */
  readonly rejected: number[] = [];
  /** From then on the network loses nothing. */
  healed = false;
  /** From then on nobody wants to lead who does not. */
  isLeftAlone = false;
  readonly client = new PersistentClient();

  constructor(options: LossyGroupOptions) {
    this.options = options;
    this.random = new Random(options.seed);
    this.hosts = Array.from({ length: options.replicas }, (_, index) => ({
      index,
      disk: emptyDisk(),
      replica: undefined,
      incarnation: 0,
      work: [],
      applied: [],
      table: undefined,
      isFetching: false,
    }));
    for (const host of this.hosts) if (host.index !== options.late) this.start(host);
  }

  start(host: Host): void {
    const { disk } = host;
    const isNew = host.incarnation === 0;
    if (disk.isDamaged && disk.superblock !== undefined) {
      disk.superblock = { ...disk.superblock, logView: 0, mayHaveLost: true };
    }
    const isDamaged = disk.isDamaged && disk.superblock !== undefined;
    const superblock = disk.superblock ?? { view: 0, logView: 0, mayHaveLost: !isNew };
    const last = disk.journal.at(-1);
    const commit = disk.journal.reduce((most, prepare) => Math.max(most, prepare.commit), disk.base);
    const suffix = disk.journal.filter(({ op }) => op > commit);
    host.incarnation += 1;
    host.work = [];
    host.isFetching = false;
    host.applied = [
      ...this.agreed.slice(0, disk.base),
      ...disk.journal.filter(({ op }) => op <= commit).map(({ checksum }) => checksum),
    ];
    host.applied.forEach((checksum, index) => {
      assert.equal(checksum, this.agreed[index], "what a journal calls committed is committed");
    });
    host.table = this.options.clients ? tableOf(disk, commit) : undefined;
    if (isDamaged) host.applied = [];
    host.replica = new Replica({
      replica: host.index,
      replicaCount: this.options.replicas,
      cluster: 0n,
      prepareQueueDepth: this.options.depth ?? 8,
      recovered: {
        view: superblock.view,
        logView: superblock.logView,
        mayHaveLost: superblock.mayHaveLost,
        isViewForgotten: disk.superblock === undefined && !isNew,
        op: last?.op ?? disk.base,
        checksum: last?.checksum ?? disk.baseChecksum,
        commit,
        commitChecksum: host.applied.at(-1) ?? 0n,
        suffix,
        isNew,
        ...(isDamaged ? { ...NOTHING, stateNeeded: commit } : {}),
      },
      checksumOf,
      timing: { ...CLUSTER_TIMING, ...this.options.timing },
      seed: this.random.below(2 ** 32),
      mutations: this.options.mutations ?? {},
      ...(host.table === undefined ? {} : { clientTable: host.table }),
    });
    if (isNew) disk.superblock = { view: 0, logView: 0, mayHaveLost: false };
  }

  /** Some of the disk's work under way is done, in order; then the rest and all memory is gone. */
  crash(host: Host, losesTail = false): void {
    const survives = this.random.below(host.work.length + 1);
    for (const { effect } of host.work.slice(0, survives)) effect();
    host.work = [];
    host.replica = undefined;
    if (!losesTail) return;
    const { disk } = host;
    disk.journal = disk.journal.slice(0, this.random.below(disk.journal.length + 1));
    if (disk.superblock !== undefined) disk.superblock = { ...disk.superblock, mayHaveLost: true };
  }

  /** The directory is gone with all that was in it. */
  wipe(host: Host): void {
    this.crash(host);
    host.disk = emptyDisk();
  }

  /** All files of the journal are gone, and its views are not. */
  loseFiles(host: Host): void {
    this.crash(host);
    const { superblock } = host.disk;
    host.disk = emptyDisk();
    if (superblock !== undefined) host.disk.superblock = { ...superblock, logView: 0, mayHaveLost: true };
  }

  /** Files change while nobody looks: it starts with a journal that it cannot read. */
  damage(host: Host): void {
    this.crash(host);
    host.disk.isDamaged = true;
  }

  /** Its host has found damage in what it holds: who leads hands over to another one first. */
  refetch(host: Host): void {
    const to = (host.index + 1 + this.random.below(this.options.replicas - 1)) % this.options.replicas;
    if (host.replica?.isPrimary) this.#step(host, { kind: "yield", to });
    else this.#step(host, { kind: "refetch" });
  }

  cut(from: number, to: number): void {
    this.#cuts.add(from * this.options.replicas + to);
  }

  mend(): void {
    this.#cuts.clear();
  }

  /** One tick: time, then whatever is due. */
  tick(): void {
    this.now += 1;
    for (const host of this.hosts) {
      this.#step(host, { kind: "tick" });
      if (this.#wouldLead()) this.#step(host, { kind: "lead" });
      for (let work = host.work[0]; work !== undefined && work.dueTick <= this.now; work = host.work[0]) {
        host.work.shift();
        work.effect();
        const done = typeof work.done === "function" ? work.done() : work.done;
        if (done !== undefined) this.#step(host, done);
      }
      if (this.options.compacts && this.random.below(100) === 0) this.#compact(host);
    }
    const due = this.#wires.filter(({ dueTick }) => dueTick <= this.now);
    for (const wire of due) this.#wires.splice(this.#wires.indexOf(wire), 1);
    for (const { from, to, message } of due) this.#arrive(from, to, message);
  }

  #wouldLead(): boolean {
    const { leadPermille = 0 } = this.options;
    return leadPermille > 0 && !this.isLeftAlone && this.random.below(1000) < leadPermille;
  }

  /**
   * Asks replica `index` for one op; with sessions it is the client's next request, or the same one again.
   */
  request(index: number): void {
    const request = this.options.clients ? this.client.request(this.now) : this.#sessionless();
    this.#step(this.hosts[index] as Host, { kind: "request", request });
  }

  /** The host of replica `index` would rather have it lead. */
  lead(index: number): void {
    this.#step(this.hosts[index] as Host, { kind: "lead" });
  }

  #sessionless(): Request {
    this.requests += 1;
    const fixed = { client: 0n, session: 0, user: 0, operation: 160, timestamp: this.now };
    return { ...fixed, request: 0n, body: this.requests, bodyChecksum: BigInt(this.requests) };
  }

  #arrive(from: number, to: number, message: ReplicaMessage): void {
    if (!this.healed && this.#cuts.has(from * this.options.replicas + to)) return;
    this.#step(this.hosts[to] as Host, { kind: "message", from, message });
  }

  #step(host: Host, input: Input): void {
    const { replica, incarnation } = host;
    if (replica === undefined) return;
    const before = { view: replica.view, commit: replica.commit };
    const outputs = replica.step(input);
    assert.ok(replica.view >= before.view, "a view never goes back");
    assert.ok(replica.commit >= before.commit, "a commit never goes back");
    if (replica.isPrimary) {
      const actor = `${host.index} started ${incarnation} times`;
      assert.equal(this.#acting.get(replica.view) ?? actor, actor, "one start of one replica acts in a view");
      this.#acting.set(replica.view, actor);
    }
    for (const output of outputs) this.#perform(host, output);
  }

  #perform(host: Host, output: Output): void {
    const { disk } = host;
    if (output.kind === "send") this.#send(host.index, output.to, output.message);
    else if (output.kind === "apply") this.#apply(host, output.prepare);
    else if (output.kind === "request-state") this.#fetch(host, output);
    else if (output.kind === "reply" || output.kind === "replay") this.client.hears(output);
    else if (output.kind === "evict") this.client.isEvicted();
    else if (output.kind === "reject") this.rejected.push(output.code);
    else if (output.kind === "journal-write") {
      const { prepare } = output;
      const { op, checksum } = prepare;
      this.#work(host, () => appendTo(disk, prepare), { kind: "journal-written", op, checksum });
    } else if (output.kind === "journal-truncate") {
      const { op } = output;
      this.#work(host, () => cut(disk, op), { kind: "journal-truncated", op });
    } else if (output.kind === "persist-view") {
      const { view, logView, mayHaveLost } = output;
      const effect = () => {
        disk.superblock = { view, logView, mayHaveLost };
      };
      this.#work(host, effect, { kind: "view-persisted", view, logView });
    } else if (output.kind === "journal-read") {
      const { op, checksum, to } = output;
      const prepare = disk.journal.find((one) => one.op === op);
      this.#work(host, () => {}, { kind: "journal-read", op, checksum, to, prepare });
    }
  }

  #send(from: number, to: number, message: ReplicaMessage): void {
    const { lossPermille = 0, repeatPermille = 0, strayPermille = 0, delayTicks = 1 } = this.options;
    const copies = !this.healed && this.random.below(1000) < repeatPermille ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      if (!this.healed && this.random.below(1000) < lossPermille) continue;
      const isStray = !this.healed && this.random.below(1000) < strayPermille;
      const delay = 1 + this.random.below(isStray ? 100 * delayTicks : delayTicks);
      this.#wires.push({ dueTick: this.now + delay, from, to, message });
    }
  }

  #work(host: Host, effect: () => void, done: DiskWork["done"]): void {
    const earliest = Math.max(this.now, host.work.at(-1)?.dueTick ?? 0);
    const isSlow = !this.healed && this.random.below(30) === 0;
    host.work.push({ dueTick: earliest + this.random.below(isSlow ? 90 : 3), effect, done });
  }

  #apply(host: Host, prepare: Prepare): void {
    assert.equal(prepare.op, host.applied.length + 1, "ops are applied in order, each once");
    const agreed = this.agreed[prepare.op - 1];
    if (agreed === undefined) {
      assert.equal(this.agreed.length, prepare.op - 1);
      this.agreed.push(prepare.checksum);
      if (this.options.clients) this.client.isExecuted(prepare);
    } else assert.equal(prepare.checksum, agreed, "committed logs are prefixes of one another");
    host.applied.push(prepare.checksum);
    if (host.table !== undefined)
      this.#work(host, () => {}, { kind: "applied", op: prepare.op, reply: answerOf(prepare) });
  }

  /** Copies a peer's state as it stands. */
  #fetch(host: Host, { from, op }: { from: number; op: number }): void {
    const peer = this.hosts[from] as Host;
    if (host.isFetching || peer.replica === undefined || peer.applied.length < op || !isAtRest(peer)) return;
    host.isFetching = true;
    const applied = [...peer.applied];
    const base = applied.length;
    const checksum = applied.at(-1) as bigint;
    const baseTable = peer.table?.encode();
    const clientTable = baseTable === undefined ? undefined : ClientTable.decode(baseTable);
    let isWanted = false;
    const effect = () => {
      host.isFetching = false;
      if (!isWanted) return;
      host.applied = applied;
      host.table = clientTable;
      host.disk.isDamaged = false;
      Object.assign(host.disk, { base, baseChecksum: checksum, baseTable, journal: [] });
    };
    const table = clientTable === undefined ? {} : { clientTable };
    this.#work(
      host,
      () => {
        const awaited = host.replica?.stateAwaited;
        isWanted = awaited !== undefined && awaited <= base;
      },
      () => (isWanted ? { kind: "state-replacing" } : undefined),
    );
    const hasNoRoom = !this.healed && this.options.damages === true && this.random.below(5) === 0;
    if (hasNoRoom) {
      const gone = () => {
        host.isFetching = false;
      };
      this.#work(host, gone, () => (isWanted ? { kind: "state-refused" } : undefined));
      return;
    }
    this.#work(host, effect, () =>
      isWanted ? { kind: "state-installed", op: base, checksum, ...table } : undefined,
    );
  }

  /** Takes what is applied out of the journal; without sessions now and then a little less. */
  #compact(host: Host): void {
    const { disk, replica } = host;
    if (replica === undefined || !isAtRest(host) || disk.isDamaged) return;
    const keeps = this.options.clients ? 0 : this.random.below(4);
    const base = Math.max(disk.base, host.applied.length - keeps);
    disk.journal = disk.journal.filter(({ op }) => op > base);
    disk.base = base;
    disk.baseChecksum = this.agreed[base - 1] ?? 0n;
    disk.baseTable = host.table?.encode();
  }
}

/** What a journal says that cannot be read. */
const NOTHING = { op: 0, checksum: 0n, commit: 0, commitChecksum: 0n, suffix: [] } as const;

function emptyDisk(): Disk {
  const nothing = { base: 0, baseChecksum: 0n, baseTable: undefined, journal: [] };
  return { ...nothing, superblock: undefined, isDamaged: false };
}

/** Everything the disk was asked is done, so that what is applied, the table and the journal agree. */
function isAtRest({ work }: Host): boolean {
  return work.length === 0;
}

function tableOf({ baseTable, journal }: Disk, commit: number): ClientTable {
  const table = baseTable === undefined ? new ClientTable() : ClientTable.decode(baseTable);
  for (const prepare of journal) if (prepare.op <= commit) settle(table, prepare, answerOf(prepare));
  return table;
}

function appendTo(disk: Disk, prepare: Prepare): void {
  const last = disk.journal.at(-1);
  assert.equal(prepare.op, (last?.op ?? disk.base) + 1, "a journal has no holes");
  assert.equal(prepare.parent, last?.checksum ?? disk.baseChecksum, "a journal is a chain");
  disk.journal.push(prepare);
}

function cut(disk: Disk, op: number): void {
  disk.journal = disk.journal.filter((prepare) => prepare.op <= op);
}

function answerOf({ op }: Prepare): Uint8Array {
  return new Uint8Array([op & 255]);
}

function checksumOf(fields: PrepareFields): bigint {
  let sum = 17n;
  for (const part of [fields.view, fields.op, fields.parent, fields.timestamp, fields.body as number]) {
    sum = (sum * 1_000_003n + BigInt(part) + 1n) & 0xffff_ffff_ffffn;
  }
  return sum;
}
