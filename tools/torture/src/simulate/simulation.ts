import { isCodedError } from "@millrace/errors";
import { type Log, type LogFacts, silentLog } from "@millrace/platform";
import { SimClock, SimDisk } from "@millrace/platform/sim";
import { encodeJoinConsumerGroup } from "@millrace/protocol";
import { SeededRandom } from "@millrace/testkit";
import { asViolation, Violation } from "../oracle/violation.ts";
import { checkWorld } from "./check-world.ts";
import { DiskTrouble, filesBelow, flipSomeBit } from "./disk-trouble.ts";
import type { SimClient } from "./sim-client.ts";
import { drive, SimServer } from "./sim-server.ts";
import { begin, type Labour } from "./work.ts";
import { createWorld, groupOf, populate, type World } from "./world.ts";

/** A run has at least so many. */
const OPERATIONS_MIN = 200;
const FAULTS_MIN = 20;
const OPERATIONS_PER_LIFE = 28;
/** A client that comes back goes on behind the numbers of its last life. */
const REQUESTS_PER_LIFE = 1000;
const DISK_LATENCY_MAX_MS = 2;
/** Longest simulated time between two things that clients begin. */
const PAUSE_MAX_MS = 2;
/** A start takes about this long, so a kill within it strikes anywhere. */
const START_MS = 60;
/** A disk's fault is lifted at least this long before a start is judged. */
const SETTLE_MS = 20;

/** What one seed did. */
export interface SimulationReport {
  readonly operations: number;
  readonly faults: number;
  readonly lives: number;
}

/** What takes real time once in a process is done before any simulated clock starts. */
export async function warmUp(): Promise<void> {
  await new Simulation(0, () => {}).run();
}

/** One seed: a broker, its clients and its disk, from a first start over many deaths to a last look. */
export class Simulation {
  readonly #random: SeededRandom;
  readonly #clock = new SimClock();
  readonly #world: World = createWorld();
  readonly #note: (line: string) => void;
  readonly #flipped = new Set<string>();
  #disk: SimDisk;
  #operations = 0;
  #faults = 0;
  #lives = 0;
  #names = 0;
  #violation: Violation | undefined;

  /** @param note  hears of everything that happens, in order */
  constructor(seed: number, note: (line: string) => void) {
    this.#random = new SeededRandom(seed);
    const latency = new SeededRandom(seed ^ 0x5eed);
    const schedule = (completion: () => void) =>
      void this.#clock.setTimer(latency.fraction() * DISK_LATENCY_MAX_MS, completion);
    this.#disk = new SimDisk({ seed: this.#random.below(2 ** 32), schedule });
    this.#note = (line) => note(`${this.#clock.monotonicMs().toFixed(3)} ${line}`);
  }

  /** Runs to its end. @throws Violation */
  async run(): Promise<SimulationReport> {
    while (this.#operations < OPERATIONS_MIN || this.#faults < FAULTS_MIN) await this.#live();
    const server = await this.#start();
    const client = await this.#login(server, 1n);
    await server.drive(checkWorld(this.#world, client));
    await server.stop();
    return { operations: this.#operations, faults: this.#faults, lives: this.#lives };
  }

  /** One life of the server: a start, work under trouble, an end, and what happens to the files then. */
  async #live(): Promise<void> {
    if (this.#lives > 0 && this.#random.below(3) === 0) await this.#dieStarting();
    const server = await this.#start();
    const [producer, operator] = [await this.#login(server, 1n), await this.#login(server, 2n)];
    if (this.#lives === 0) await server.drive(populate(this.#world, operator));
    else await server.drive(checkWorld(this.#world, operator));
    this.#lives += 1;
    for (const topic of this.#world.topics) {
      await server.drive(producer.command("JoinConsumerGroup", encodeJoinConsumerGroup(groupOf(topic))));
    }
    const trouble = new DiskTrouble();
    const labour: Labour = {
      world: this.#world,
      random: this.#random,
      producer,
      operator,
      trouble,
      freshName: () => this.#freshName(),
      note: this.#note,
      fail: (error) => {
        this.#violation ??= asViolation(error);
      },
    };
    await this.#work(server, labour);
    for (const struck of trouble.struck) this.#countFault(struck);
    await this.#end(server, producer.inFlightCount + operator.inFlightCount);
    if (this.#random.below(2) === 0) await this.#flip();
  }

  #login(server: SimServer, client: bigint): Promise<SimClient> {
    return server.login(client, 1 + this.#lives * REQUESTS_PER_LIFE);
  }

  async #work(server: SimServer, labour: Labour): Promise<void> {
    const { trouble } = labour;
    const { disk } = server;
    for (let count = this.#random.below(4); count > 0; count -= 1) trouble.plan(this.#random);
    disk.setFaults(trouble.faults);
    const fullFrom = this.#random.below(4 * OPERATIONS_PER_LIFE);
    for (let step = 0; step < OPERATIONS_PER_LIFE; step += 1) {
      if (step === fullFrom) trouble.fill(disk);
      if (step === fullFrom + OPERATIONS_PER_LIFE / 4) trouble.makeRoom(disk);
      if (begin(labour)) this.#operations += 1;
      await this.#clock.run(this.#random.fraction() * PAUSE_MAX_MS);
      if (this.#violation !== undefined) throw this.#violation;
    }
  }

  async #end(server: SimServer, inFlight: number): Promise<void> {
    const dice = this.#random.below(8);
    server.disk.setFaults(undefined);
    server.disk.setSpace(Number.POSITIVE_INFINITY);
    if (dice === 0) {
      this.#note("stop");
      this.#disk = await server.stop();
    } else {
      const how = dice < 5 ? "kill" : "power";
      this.#countFault(`${how} with ${inFlight} requests in flight`);
      this.#disk = await server.kill(how);
      if (how === "power") this.#losePower();
    }
    await this.#clock.run(SETTLE_MS);
    for (const { messages } of this.#world.partitions) messages.loseAnswers();
    if (this.#violation !== undefined) throw this.#violation;
  }

  #losePower(): void {
    for (const partition of this.#world.partitions) {
      if (partition.topic.durability === "persisted") continue;
      partition.messages.losePower(partition.topic.offsetDurability === "persisted");
      partition.isHarmed = true;
      for (const { ledger } of partition.offsets) {
        ledger.harm();
        if (partition.topic.offsetDurability === "replicated") ledger.forgive();
      }
    }
  }

  /** A start that a kill, power loss or a failing disk ends. Nothing that was promised may be lost by it. */
  async #dieStarting(): Promise<void> {
    const trouble = new DiskTrouble();
    if (this.#random.below(2) === 0) trouble.plan(this.#random);
    const disk = this.#disk;
    disk.setFaults(trouble.faults);
    const starting = SimServer.start(disk, this.#clock, this.#startOptions());
    const refused = starting.then(
      () => undefined,
      (error: unknown) => error,
    );
    await this.#clock.run(this.#random.fraction() * START_MS);
    const how = this.#random.below(2) === 0 ? "kill" : "power";
    this.#countFault(`${how} while starting`);
    for (const struck of trouble.struck) this.#countFault(struck);
    const left = how === "kill" ? disk.kill() : disk.crash();
    if (how === "power") this.#losePower();
    left.setFaults(undefined);
    const error = await drive(this.#clock, refused);
    if (error === undefined) await (await starting).abandon();
    else if (!isCodedError(error)) throw asViolation(error);
    this.#disk = left;
  }

  async #start(): Promise<SimServer> {
    this.#note("start");
    const starting = SimServer.start(this.#disk, this.#clock, this.#startOptions());
    return drive(this.#clock, starting).catch((error: unknown) => {
      throw new Violation("server", `the server does not start: ${asViolation(error).message}`);
    });
  }

  /**
   * Changes one bit of some partition's files, of each segment's at most once: log, op records and index hold
   * most things twice, so one fault can be told.
   */
  async #flip(): Promise<void> {
    const files = await drive(this.#clock, filesBelow(this.#disk, "streams/0"));
    const path = files.length === 0 ? "" : this.#random.pick(files);
    const found = /^streams\/0\/topics\/(\d+)\/partitions\/(\d+)-/.exec(path);
    const partition = this.#world.topics[Number(found?.[1])]?.partitions[Number(found?.[2])];
    const segment = path.replace(/\.\w+$/, "");
    if (partition === undefined || this.#flipped.has(segment)) return;
    const flipped = await drive(this.#clock, flipSomeBit(this.#disk, path, this.#random));
    if (flipped === undefined) return;
    this.#flipped.add(segment);
    this.#countFault(`bit ${flipped.bit} of ${path} changed`);
    partition.isHarmed = true;
    partition.messages.harm();
    for (const { ledger } of partition.offsets) ledger.harm();
  }

  #freshName(): string {
    this.#names += 1;
    return `n${this.#names}`;
  }

  #startOptions() {
    return { seed: this.#random.below(2 ** 32), log: notingLog(this.#note) };
  }

  #countFault(what: string): void {
    this.#faults += 1;
    this.#note(what);
  }
}

/** A log whose warnings and errors belong to what happened. */
function notingLog(note: (line: string) => void): Log {
  const at = (level: string) => (message: string, facts?: LogFacts) => {
    const error = facts?.["error"];
    const reason = error instanceof Error ? error.message : JSON.stringify(facts ?? {});
    note(`${level}: ${message} ${reason}`);
  };
  const log: Log = { ...silentLog, warn: at("warn"), error: at("error"), child: () => log };
  return log;
}
