import assert from "node:assert/strict";
import {
  decodeSendMessagesReply,
  encodeStoreConsumerOffset,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../test-batches.ts";
import { pollBody } from "../test-polls.ts";
import { SentBatch } from "./history-batch.ts";
import { HistoryClient } from "./history-client.ts";
import { batchOf, servedMessages } from "./history-messages.ts";
import { carryOut } from "./history-operation.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { type Excuses, payloadOf } from "./history-reads.ts";
import type { HistoryWorld } from "./history-world.ts";

/** Stream of all topics of a history. */
export const STREAM = "s";
/** Messages that one poll may bring: more than a history has. */
const POLL_COUNT = 10_000;

/** Where a topic is. */
export const placeOf = (topic: Pick<TopicOracle, "name">) => ({
  stream: toIdentifier(STREAM),
  topic: toIdentifier(topic.name),
});

/** Body of a poll of everything in a partition from `offset` on. */
export function pollTopic(topic: TopicOracle, offset = 0, options: Partial<PollMessages> = {}): Uint8Array {
  const strategy = { kind: "offset", offset: BigInt(offset) } as const;
  const { partitionId } = topic;
  return pollBody({ ...placeOf(topic), partitionId, count: POLL_COUNT, strategy, ...options });
}

/** Somebody who does one thing after the other. */
export abstract class Actor {
  readonly world: HistoryWorld;
  readonly client: HistoryClient;
  readonly below: (limit: number) => number;
  /** Longest pause between two operations in milliseconds. */
  protected abstract readonly pauseMaxMs: number;

  constructor(world: HistoryWorld, number: number) {
    const random = world.randomOf(number);
    this.world = world;
    this.below = (limit) => random.below(limit);
    this.client = new HistoryClient(world, BigInt(100 + number));
  }

  /** One operation after the other until the cluster is healed and enough was done. */
  async run(): Promise<void> {
    while (!this.world.isOver) {
      await this.world.sleep(1 + this.below(this.pauseMaxMs * this.world.paceFactor));
      await this.act();
    }
    this.leave();
  }

  /** Ends its connection. */
  leave(): void {
    this.client.leave();
  }

  /** Why a node may refuse it a read; `mayBeUnknown` unless it was told that the node knows what it reads. */
  protected excuses({ mayBeUnknown }: Pick<Excuses, "mayBeUnknown">): Excuses {
    return { mayBeUnknown, isRotten: this.world.isRotten(this.client.node) };
  }

  protected abstract act(): Promise<void>;
}

/** Sends batches with numbers, again and again under one number until the outcome of each is known. */
export class Producer extends Actor {
  protected readonly pauseMaxMs = 150;
  readonly #underWayMax: number;
  #batches = 0;
  #turns = 0;

  /** @param underWayMax  batches it sends at once, at most */
  constructor(world: HistoryWorld, number: number, underWayMax = 1) {
    super(world, number);
    this.#underWayMax = underWayMax;
  }

  protected async act(): Promise<void> {
    const topic = this.world.pickTopic(this.below);
    if (topic === undefined) return;
    const count = 1 + this.below(this.#underWayMax);
    this.#turns += 1;
    await Promise.all(Array.from({ length: count }, () => this.#send(topic)));
  }

  /** Sends one batch; what is acknowledged is read at once on the node that acknowledged it. */
  async send(topic: TopicOracle): Promise<void> {
    this.#turns += 1;
    await this.#send(topic);
  }

  async #send(topic: TopicOracle): Promise<void> {
    this.#batches += 1;
    const isBalanced = this.below(3) === 0;
    const texts = Array.from(
      { length: 1 + this.below(3) },
      (_, at) => `${this.client.id}.${this.#batches}.${at}`,
    );
    const batch = new SentBatch(texts, isBalanced ? this.world.partitionsOf(topic) : [topic]);
    batch.sending({ producer: this.client.id, turn: this.#turns, sentMs: this.world.nowMs });
    if (isBalanced) this.world.balanced.push(batch);
    const { partitionId } = topic;
    const body = sendBody(texts, {
      ...{ stream: STREAM, topic: topic.name, batch: batchOf(texts) },
      partitioning: isBalanced ? { kind: "balanced" } : { kind: "partition", partitionId },
    });
    const mayBeGone = () => topic.state !== "kept";
    const { answer, connection } = await carryOut(this, { name: "SendMessages", body, mayBeGone });
    if (answer === undefined) return;
    assert.equal(answer.code, 0, `a send to ${topic.name} is answered`);
    const [confirmation] = decodeSendMessagesReply(answer.payload);
    const baseOffset = confirmation?.baseOffset;
    const stored = batch.acknowledged(confirmation);
    const label = stored?.label ?? topic.name;
    this.world.trace(`c${this.client.id}`, `${label}@${baseOffset} ${texts}`);
    if (stored?.isPermanent !== true || baseOffset === undefined) return;
    // Where it was acknowledged; another batch may have taken the client elsewhere.
    if (this.client.connection === connection) await this.#readOwn(stored, texts, baseOffset);
  }

  async #readOwn(topic: TopicOracle, texts: readonly string[], baseOffset: number): Promise<void> {
    const answer = await this.client.ask("PollMessages", pollTopic(topic, baseOffset));
    const excuses = this.excuses({ mayBeUnknown: topic.state !== "kept" });
    const payload = payloadOf(answer, "PollMessages of what was written", excuses);
    if (payload === undefined) return;
    const messages = servedMessages(payload, topic.partitionId);
    topic.read(messages, baseOffset);
    const { length } = excuses.isRotten ? messages : texts;
    const own = messages.slice(0, texts.length);
    const what = `client ${this.client.id} reads what it wrote on node ${this.client.node} to ${topic.name}`;
    assert.deepEqual(own.map(({ text }) => text), texts.slice(0, length), what); // biome-ignore format: one line
  }
}

/** Polls on any node, and stores offsets of what it read. */
export class Consumer extends Actor {
  protected readonly pauseMaxMs = 300;
  /** Messages that a connection has seen in a topic. */
  #seen: { connection: unknown; counts: Map<TopicOracle, number> } | undefined;

  /** Number it stores its offsets under. */
  get number(): number {
    return Number(this.client.id);
  }

  get #key() {
    return { kind: "consumer", id: toIdentifier(this.number) } as const;
  }

  protected async act(): Promise<void> {
    const topic = this.world.pickTopic(this.below);
    if (topic === undefined) return;
    if (this.below(4) === 0) this.client.leave();
    if (!(await this.client.goTo(this.below(this.world.cluster.nodes.length)))) return;
    const autoCommit = topic.isPermanent && this.below(3) === 0;
    const body = pollTopic(topic, 0, { consumer: this.#key, autoCommit });
    const answer = await this.client.ask("PollMessages", body);
    const mayBeGone = topic.state !== "kept";
    const excuses = { ...this.excuses({ mayBeUnknown: true }), mayCommit: autoCommit, mayBeGone };
    const payload = payloadOf(answer, "PollMessages", excuses);
    if (autoCommit && payload === undefined) topic.storedOf(this.number).moving();
    if (payload === undefined) return;
    const messages = servedMessages(payload, topic.partitionId);
    topic.read(messages, 0);
    if (autoCommit) topic.storedOf(this.number).moved(messages.at(-1)?.offset);
    if (topic.isPermanent && !excuses.isRotten) this.#neverFewer(topic, messages.length);
    const last = messages.at(-1);
    if (last !== undefined && !topic.isPurged && this.below(2) === 0) await this.#store(topic, last.offset);
  }

  #neverFewer(topic: TopicOracle, count: number): void {
    const { connection } = this.client;
    if (this.#seen?.connection !== connection) this.#seen = { connection, counts: new Map() };
    const before = this.#seen?.counts.get(topic) ?? 0;
    assert.ok(
      count >= before,
      `${topic.name} on node ${this.client.node} goes back from ${before} to ${count}`,
    );
    this.#seen?.counts.set(topic, count);
  }

  async #store(topic: TopicOracle, offset: number): Promise<void> {
    const stored = topic.storedOf(this.number);
    stored.storing(offset);
    const place = { ...placeOf(topic), partitionId: topic.partitionId, consumer: this.#key };
    const { answer } = await carryOut(this, {
      name: "StoreConsumerOffset",
      body: encodeStoreConsumerOffset({ ...place, offset: BigInt(offset), ack: "quorum" }),
      mayBeGone: () => topic.state !== "kept",
    });
    if (answer === undefined) return;
    assert.equal(answer.code, 0, `storing offset ${offset} of ${topic.name} is answered`);
    stored.stored(offset, this.world.nowMs);
  }
}
