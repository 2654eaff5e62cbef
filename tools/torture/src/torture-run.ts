import { type ClientOptions, MillraceClient } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import { MessageContent } from "./content/message-content.ts";
import { withinTime } from "./deadline.ts";
import { chooseFault, comeBack, type Fault, killUnderLoad } from "./faults/fault.ts";
import { acceptLoss, type Round } from "./load/actor.ts";
import type { OffsetStorer } from "./load/offset-storer.ts";
import { SentBatches } from "./oracle/sent-batches.ts";
import type { TopicHistory } from "./oracle/topic-history.ts";
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

/** How the load of a round goes. */
export interface LoadPlan<T> {
  /** Whether the end comes only after everybody is logged in. */
  readonly isAfterLogin: boolean;
  readonly mayDiskBeFull: boolean;
  readonly end: (signal: AbortSignal) => Promise<T>;
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
    const { isAfterLogin } = fault;
    const end = (signal: AbortSignal) => killUnderLoad(this.#server, fault, signal);
    const killed = await this.load(number, { isAfterLogin, mayDiskBeFull: false, end });
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

  /** What is known of the topics, in the order of their ids, and of stored offsets. */
  get knowledge(): {
    readonly topics: readonly TopicHistory[];
    readonly storers: readonly OffsetStorer[];
    readonly content: MessageContent;
  } {
    return { topics: this.#allTopics(), storers: this.#workload.storers, content: this.#content };
  }

  /** Batches refused so far, for want of room. */
  get refusedCount(): number {
    return this.#allTopics().reduce((sum, topic) => sum + topic.refusedCount, 0);
  }

  /**
   * Writes to every partition of the topics that only grow, and to the metadata. Answers the names of those
   * that were refused because the disk is full. Throws Violation.
   */
  async writeEverywhere(number: number): Promise<readonly string[]> {
    const round: Round = {
      number,
      random: this.#random,
      isOver: false,
      isServerEnding: false,
      mayDiskBeFull: true,
      connect: () => this.#connect(),
      fail: () => {},
    };
    let client: MillraceClient;
    try {
      client = await this.#connect();
    } catch (error) {
      acceptLoss(error, round, "a login");
      return ["a login"];
    }
    try {
      return await this.#workload.prober.write(client, round);
    } finally {
      await client.close().catch(() => {});
    }
  }

  /** Makes at least `count` ops of the metadata that leave nothing behind. */
  async changeMetadata(count: number): Promise<void> {
    const client = await this.#connect();
    for (let done = 0; done < count; done += 2) {
      await client.createConsumerGroup(STREAM, "replicated", "passing");
      await client.deleteConsumerGroup({ stream: STREAM, topic: "replicated", group: "passing" });
    }
    await client.close();
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

  /**
   * Lets everybody work until `plan.end` is done, and answers what it did. Throws the first Violation.
   *
   * @param plan.end  ends the load, as a rule by killing the server; soon when its signal is aborted
   */
  async load<T>(number: number, plan: LoadPlan<T>): Promise<T> {
    const server = this.#server;
    const failed = new AbortController();
    let violation: Violation | undefined;
    // Also when the server runs again: one client lives through the crash.
    let isEnded = false;
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
        mayDiskBeFull: plan.mayDiskBeFull,
        get isOver() {
          return isEnded || server.isStopWanted || violation !== undefined;
        },
        get isServerEnding() {
          return isEnded || server.isEnding;
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
    if (plan.isAfterLogin) await Promise.allSettled(connections);
    const ended = await plan.end(failed.signal).catch((error: unknown) => {
      fail(asViolation(error));
      return undefined;
    });
    isEnded = true;
    await withinTime("the end of the load", SETTLE_MAX_MS, Promise.all(actors));
    if (violation !== undefined) throw violation;
    return ended as T;
  }

  #acknowledged(): number {
    return this.#allTopics().reduce((sum, topic) => sum + topic.acknowledgedCount, 0);
  }

  #allTopics(): readonly TopicHistory[] {
    const { topics, purger } = this.#workload;
    return [...topics, purger.topic];
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
