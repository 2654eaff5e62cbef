import assert from "node:assert/strict";
import { ClientTable } from "./client-table/client-table.ts";
import { settle } from "./client-table/settle.ts";
import { CLUSTER_TIMING } from "./cluster-timing.ts";
import type { Input } from "./input.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Output } from "./output.ts";
import type { Prepare, PrepareFields } from "./prepare.ts";
import { Replica } from "./replica.ts";
import type { Recovered } from "./replica-options.ts";
import { lineOf, standingOf } from "./transcript-lines-fixture.test.ts";

/** The words of a command after its verb: `name=value`, or a name alone. */
export type Words = Readonly<Record<string, string | undefined>>;

type DiskWork = Extract<
  Output,
  { kind: "journal-write" | "persist-view" | "journal-truncate" | "journal-read" }
>;

/** One replica and what its machine keeps. */
interface Machine {
  replica: Replica;
  starts: number;
  /** What the disk was asked and has not done. */
  work: DiskWork[];
  journal: Map<number, Prepare>;
  base: { op: number; checksum: bigint };
  superblock: { view: number; logView: number; mayHaveLost: boolean } | undefined;
  /** Answers of applied ops, from which a client table is made again. */
  answers: Map<number, { prepare: Prepare; reply: Uint8Array }>;
}

/** A group whose every message and disk write is done when the transcript says so. */
export class World {
  #machines: Machine[] = [];
  #words: Words = {};
  /** Undelivered messages by "from>to", and the last one that was taken off each link. */
  readonly #links = new Map<string, ReplicaMessage[]>();
  readonly #last = new Map<string, ReplicaMessage>();
  /** Checksum of each journal write by "replica:op". */
  readonly #writes = new Map<string, bigint>();

  start(words: Words): void {
    this.#words = words;
    this.#machines = Array.from({ length: Number(words["replicas"]) }, (_, index) => {
      const recovered = { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n, isNew: true };
      return {
        replica: this.#replica(index, 1, recovered),
        starts: 1,
        work: [],
        journal: new Map(),
        base: { op: 0, checksum: 0n },
        superblock: { view: 0, logView: 0, mayHaveLost: false },
        answers: new Map(),
      };
    });
  }

  /** Runs one command and returns its trace. */
  run(index: number, verb: string, words: Words): string[] {
    const machine = this.#machines[index] as Machine;
    const trace: string[] = [];
    const link = `${words["from"]}>${index}`;
    let turns = Number(words["count"] ?? 1);
    if (words["count"] === "all") turns = this.#links.get(link)?.length ?? 0;
    if (verb === "disk") turns = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < turns && (verb !== "disk" || machine.work.length > 0); turn += 1) {
      const input = this.#input(index, verb, words);
      const outputs = input === undefined ? [] : machine.replica.step(input);
      for (const output of outputs) trace.push(this.#perform(index, output));
    }
    return [...trace, standingOf(machine.replica)].map((line) => `    ${line}`);
  }

  #input(index: number, verb: string, words: Words): Input | undefined {
    const machine = this.#machines[index] as Machine;
    const op = Number(words["op"]);
    switch (verb) {
      case "request":
        return { kind: "request", request: requestOf(words) };
      case "written": {
        const given = words["checksum"];
        if (given !== undefined) return { kind: "journal-written", op, checksum: BigInt(given) };
        const work = machine.work.find((one) => one.kind === "journal-write" && one.prepare.op === op);
        const checksum = this.#writes.get(`${index}:${op}`) ?? 0n;
        return work === undefined ? { kind: "journal-written", op, checksum } : this.#do(machine, work);
      }
      case "applied":
        return { kind: "applied", op, reply: this.#answer(machine, op, words["reply"] ?? "") };
      case "tick":
        return { kind: "tick" };
      case "disk":
        return this.#do(machine, machine.work[0]);
      case "persisted":
        return this.#do(machine, firstOf(machine, "persist-view"));
      case "truncated":
        return this.#do(machine, firstOf(machine, "journal-truncate"));
      case "read":
        return this.#do(machine, firstOf(machine, "journal-read"));
      case "compact":
        machine.base = { op, checksum: machine.journal.get(op)?.checksum ?? 0n };
        for (let gone = 1; gone <= op; gone += 1) machine.journal.delete(gone);
        return undefined;
      case "installed":
        return this.#install(machine, this.#machines[Number(words["from"])] as Machine);
      case "restart":
        this.#restart(index, words);
        return undefined;
      default:
        return this.#message(verb, `${words["from"]}>${index}`);
    }
  }

  #message(verb: string, link: string): Input | undefined {
    const message = verb === "repeat" ? this.#last.get(link) : this.#links.get(link)?.shift();
    assert.ok(message !== undefined, `there is a message on ${link}`);
    this.#last.set(link, message);
    assert.ok(["deliver", "drop", "repeat"].includes(verb), `${verb} is a command`);
    return verb === "drop" ? undefined : { kind: "message", from: Number(link.split(">")[0]), message };
  }

  #perform(index: number, output: Output): string {
    const machine = this.#machines[index] as Machine;
    switch (output.kind) {
      case "send": {
        const link = `${index}>${output.to}`;
        this.#links.set(link, [...(this.#links.get(link) ?? []), output.message]);
        break;
      }
      case "journal-write":
        this.#writes.set(`${index}:${output.prepare.op}`, output.prepare.checksum);
        machine.work.push(output);
        break;
      case "persist-view":
      case "journal-truncate":
      case "journal-read":
        machine.work.push(output);
        break;
      default:
    }
    return lineOf(output);
  }

  /** Does one piece of disk work, which tells the replica. */
  #do(machine: Machine, work: DiskWork | undefined): Input {
    assert.ok(work !== undefined, "the disk was asked for that");
    machine.work.splice(machine.work.indexOf(work), 1);
    switch (work.kind) {
      case "journal-write": {
        const { op, checksum } = work.prepare;
        machine.journal.set(op, work.prepare);
        return { kind: "journal-written", op, checksum };
      }
      case "persist-view": {
        const { view, logView, mayHaveLost } = work;
        machine.superblock = { view, logView, mayHaveLost };
        return { kind: "view-persisted", view, logView };
      }
      case "journal-truncate":
        for (const op of [...machine.journal.keys()]) if (op > work.op) machine.journal.delete(op);
        return { kind: "journal-truncated", op: work.op };
      case "journal-read": {
        const { op, checksum, to } = work;
        return { kind: "journal-read", op, checksum, to, prepare: machine.journal.get(op) };
      }
    }
  }

  #answer(machine: Machine, op: number, text: string): Uint8Array {
    const reply = new TextEncoder().encode(text);
    const prepare = machine.journal.get(op);
    if (prepare !== undefined) machine.answers.set(op, { prepare, reply });
    return reply;
  }

  #install(machine: Machine, peer: Machine): Input {
    const { commit: op, commitChecksum: checksum } = peer.replica;
    machine.journal.clear();
    machine.base = { op, checksum };
    machine.answers = new Map([...peer.answers].filter(([answered]) => answered <= op));
    const clientTable = this.#tableOf(machine.answers);
    return { kind: "state-installed", op, checksum, ...(clientTable === undefined ? {} : { clientTable }) };
  }

  #restart(index: number, words: Words): void {
    const machine = this.#machines[index] as Machine;
    machine.work = [];
    machine.starts += 1;
    if ("wiped" in words) {
      Object.assign(machine, { journal: new Map(), base: { op: 0, checksum: 0n }, superblock: undefined });
    }
    for (const link of this.#links.keys()) if (link.endsWith(`>${index}`)) this.#links.delete(link);
    const found = contiguous(machine, Number(words["upTo"] ?? Number.POSITIVE_INFINITY));
    machine.journal = new Map(found.map((prepare) => [prepare.op, prepare]));
    const { op: base, checksum: baseChecksum } = machine.base;
    const commit = found.reduce((most, prepare) => Math.max(most, prepare.commit), base);
    const { view, logView, mayHaveLost } = machine.superblock ?? { view: 0, logView: 0, mayHaveLost: true };
    for (const op of [...machine.answers.keys()]) if (op > commit) machine.answers.delete(op);
    machine.replica = this.#replica(
      index,
      machine.starts,
      {
        view,
        logView,
        mayHaveLost: mayHaveLost || "mayHaveLost" in words,
        isViewForgotten: machine.superblock === undefined,
        op: found.at(-1)?.op ?? base,
        checksum: found.at(-1)?.checksum ?? baseChecksum,
        commit,
        commitChecksum: machine.journal.get(commit)?.checksum ?? baseChecksum,
        suffix: found.filter(({ op }) => op > commit),
      },
      this.#tableOf(machine.answers),
    );
  }

  #replica(replica: number, starts: number, recovered: Recovered, table = this.#tableOf(new Map())): Replica {
    const chunk = Number(this.#words["chunk"] ?? CLUSTER_TIMING.repairChunkMax);
    return new Replica({
      replica,
      replicaCount: Number(this.#words["replicas"]),
      cluster: 0n,
      prepareQueueDepth: Number(this.#words["depth"]),
      recovered,
      checksumOf,
      timing: { ...CLUSTER_TIMING, repairChunkMax: chunk },
      seed: 100 * replica + starts,
      ...(table === undefined ? {} : { clientTable: table }),
    });
  }

  #tableOf(answers: Machine["answers"]): ClientTable | undefined {
    const capacity = this.#words["clients"];
    if (capacity === undefined) return undefined;
    const table = new ClientTable({ capacity: Number(capacity) });
    for (const { prepare, reply } of answers.values()) settle(table, prepare, reply);
    return table;
  }
}

function firstOf(machine: Machine, kind: DiskWork["kind"]): DiskWork | undefined {
  return machine.work.find((work) => work.kind === kind);
}

function contiguous({ journal, base }: Machine, upTo: number): Prepare[] {
  const found: Prepare[] = [];
  for (let op = base.op + 1; op <= upTo; op += 1) {
    const prepare = journal.get(op);
    if (prepare === undefined) break;
    found.push(prepare);
  }
  return found;
}

function requestOf(words: Words) {
  return {
    client: BigInt(words["client"] ?? 0),
    session: Number(words["session"] ?? 0),
    request: BigInt(words["request"] ?? 0),
    operation: Number(words["operation"]),
    user: Number(words["user"] ?? 0),
    timestamp: 1000,
    body: words["body"] ?? "",
    bodyChecksum: BigInt(words["checksum"] ?? 0),
  };
}

/** Small enough to read, different for every field. */
function checksumOf(fields: PrepareFields): bigint {
  const { view, op, parent, client, session, request, operation, user, timestamp, bodyChecksum } = fields;
  let sum = 17n;
  for (const part of [view, op, parent, client, session, request, operation, user, timestamp, bodyChecksum]) {
    sum = (sum * 31n + BigInt(part)) & 0xffffn;
  }
  return sum;
}
