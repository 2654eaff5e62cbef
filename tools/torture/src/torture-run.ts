import { type ClientOptions, MillraceClient } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import { MessageContent } from "./content/message-content.ts";
import { withinTime } from "./deadline.ts";
import { chooseFault, comeBack, type Fault, killUnderLoad } from "./faults/fault.ts";
import type { Round } from "./load/actor.ts";
import { SentBatches } from "./oracle/sent-batches.ts";
import { asViolation, type Violation } from "./oracle/violation.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { readCatalog } from "./verify/read-catalog.ts";
import type { Reader } from "./verify/read-partition.ts";
import { verifyPurgedTopic } from "./verify/verify-purged-topic.ts";
import { type Depth, verifyTopic } from "./verify/verify-topic.ts";
import { createTopics, createWorkload, STREAM, type Workload } from "./workload.ts";

/** Sockets of a killed server close at once; more than this is an actor that hangs. */
const SETTLE_MAX_MS = 30_000;
/** Reading what a round wrote takes a second or two; everything of a long run, minutes. */
const VERIFY_MAX_MS = 600_000;
const SEND_MEMORY_LENGTH = 16_777_216;
/** No answer for this long while the server runs is a hang. */
const REQUEST_TIMEOUT_MS = 15_000;

/** What one round did. */
export interface RoundReport {
  readonly fault: Fault;
  /** Where the server was killed under load, and where each start was. */
  readonly killed: string;
  readonly startsKilled: readonly string[];
  /** Messages acknowledged in this round, and read back after it. */
  readonly acknowledgedCount: number;
  readonly seenCount: number;
  readonly startMs: number;
  readonly roundMs: number;
}

/** A server, those who work on it, and what they know: rounds of load, death, return and judgement. */
export class TortureRun {
  readonly #server: ServerProcess;
  readonly #random: SeededRandom;
  readonly #content: MessageContent;
  readonly #workload: Workload;
  #lastStartMs = 0;

  constructor(server: ServerProcess, seed: number) {
    this.#server = server;
    this.#random = new SeededRandom(seed);
    this.#content = new MessageContent(seed);
    this.#workload = createWorkload(new SentBatches(), this.#content);
  }

  /** Starts a fresh server and makes the topics. */
  async begin(): Promise<void> {
    this.#lastStartMs = await this.#server.start();
    const client = await this.#connect();
    await createTopics(client);
    await client.close();
  }

  /** One round. Throws Violation. */
  async round(number: number): Promise<RoundReport> {
    const startedMs = performance.now();
    const before = this.#acknowledged();
    const fault = chooseFault(this.#random);
    const killed = await this.#load(number, fault);
    const { startMs, killed: startsKilled } = await comeBack(this.#server, fault, this.#lastStartMs);
    this.#lastStartMs = startMs;
    const seenCount = await this.verify(false);
    return {
      fault,
      killed,
      startsKilled,
      acknowledgedCount: this.#acknowledged() - before,
      seenCount,
      startMs,
      roundMs: performance.now() - startedMs,
    };
  }

  /** Stops the server in order, starts it again, and reads everything. Throws Violation. */
  async finish(): Promise<number> {
    await this.#server.stop();
    await this.#server.start();
    const seenCount = await this.verify(true);
    await this.#server.stop();
    return seenCount;
  }

  /** Compares what the server shows with what is known. Returns the messages read. Throws Violation. */
  async verify(isWhole: boolean): Promise<number> {
    const { catalog } = this.#workload;
    await withinTime("the operation repeated after the restart", SETTLE_MAX_MS, catalog.settle());
    const client = await this.#connect({ requestTimeoutMs: VERIFY_MAX_MS });
    try {
      return await withinTime("reading everything back", VERIFY_MAX_MS, this.#judge(client, isWhole));
    } finally {
      await client.close().catch(() => {});
    }
  }

  /** What the run did in all, for its last lines. */
  summary(): string {
    const { catalog, purger, topics, storers } = this.#workload;
    let trimmed = 0;
    for (const topic of topics) for (const partition of topic.partitions) trimmed += partition.trimmedCount;
    return [
      `${this.#acknowledged()} messages acknowledged`,
      `${catalog.history.acknowledgedCount} catalog operations`,
      `${storers.reduce((sum, { storesCount }) => sum + storesCount, 0)} offsets stored`,
      `${purger.purgesCount} purges`,
      `${trimmed} messages gone with deleted segments`,
    ].join(", ");
  }

  async #judge(client: MillraceClient, isWhole: boolean): Promise<number> {
    const { topics, purger, storers, catalog } = this.#workload;
    const reader: Reader = { client, stream: STREAM, content: this.#content };
    const depth: Depth = { random: this.#random, isWhole };
    catalog.history.see(await readCatalog(client, STREAM));
    let count = await verifyPurgedTopic(reader, purger, depth);
    for (const topic of topics) count += await verifyTopic(reader, topic, depth);
    for (const storer of storers) {
      const stored = await client.getConsumerOffset(storer.place);
      storer.history.see(stored === undefined ? undefined : Number(stored.storedOffset));
    }
    return count;
  }

  /** Lets everybody work until the server is killed, and says where. Throws the first Violation. */
  async #load(number: number, fault: Fault): Promise<string> {
    const server = this.#server;
    const failed = new AbortController();
    let violation: Violation | undefined;
    // Also when the server runs again: one client lives through the crash.
    let isDead = false;
    const fail = (found: Violation) => {
      violation ??= found;
      failed.abort();
    };
    server.onUnwantedExit = fail;
    const connections: Promise<MillraceClient>[] = [];
    const actors = this.#workload.actors.map((actor) => {
      const round: Round = {
        number,
        random: new SeededRandom(this.#random.below(2 ** 32)),
        get isOver() {
          return isDead || server.isStopWanted || violation !== undefined;
        },
        get isServerEnding() {
          return isDead || server.isEnding;
        },
        connect: (more) => {
          const connection = this.#connect(more);
          connections.push(connection);
          return connection;
        },
        fail,
      };
      return actor.run(round).catch((error: unknown) => fail(asViolation(error)));
    });
    if (fault.isAfterLogin) await Promise.allSettled(connections);
    const killed = await killUnderLoad(server, fault, failed.signal);
    isDead = true;
    await withinTime("the end of the load", SETTLE_MAX_MS, Promise.all(actors));
    if (violation !== undefined) throw violation;
    return killed;
  }

  #acknowledged(): number {
    const { topics, purger } = this.#workload;
    return [...topics, purger.topic].reduce((sum, topic) => sum + topic.acknowledgedCount, 0);
  }

  #connect(more: Partial<ClientOptions> = {}): Promise<MillraceClient> {
    return MillraceClient.connect({
      address: this.#server.address,
      username: "iggy",
      password: "iggy",
      reconnect: false,
      retrySends: false,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      sendMemoryLength: SEND_MEMORY_LENGTH,
      ...more,
    });
  }
}
