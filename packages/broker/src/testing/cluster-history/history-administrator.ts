import assert from "node:assert/strict";
import { ErrorCode } from "@millrace/errors";
import { type TypedField, typedField } from "@millrace/framing";
import {
  decodeGetTopicReply,
  encodeCreateTopic,
  encodeDeleteSegments,
  encodeDeleteTopic,
  encodeGetTopic,
  encodePurgeTopic,
  toIdentifier,
} from "@millrace/protocol";
import { Actor, placeOf, STREAM } from "./history-actors.ts";
import { carryOut } from "./history-operation.ts";
import { TopicOracle } from "./history-oracle.ts";
import type { TopicPlan } from "./history-plan.ts";
import { payloadOf } from "./history-reads.ts";
import { Trims } from "./history-trims.ts";
import type { HistoryWorld } from "./history-world.ts";

/** Topics that nobody deletes, so that there is always something to write to. */
const TOPICS_KEPT = 2;
/** Topics that there are at one time, at most. */
const TOPICS_MAX = 5;
/** Partitions of a topic. */
const PARTITIONS_MAX = 3;
/** Segments that one request deletes at most, when it does not delete all. */
const SEGMENTS_MAX = 4;
/** As many as no partition has. */
const ALL_SEGMENTS = 1_000_000;

/** What an administrator does. */
export interface AdministratorOptions {
  /** All his topics are persisted. */
  readonly isPersisted: boolean;
}

/** Makes, purges and deletes topics. */
export class Administrator extends Actor {
  protected readonly pauseMaxMs = 1500;
  readonly #isPersisted: boolean;
  #made = 0;

  constructor(world: HistoryWorld, number: number, options: AdministratorOptions) {
    super(world, number);
    this.#isPersisted = options.isPersisted;
  }

  protected async act(): Promise<void> {
    const choice = this.below(4);
    const topic = this.world.pickTopic(this.below);
    if (choice === 0 && this.world.topicsKept < TOPICS_MAX) await this.create();
    else if (topic === undefined) return;
    else if (choice === 1 && !this.#isFirst(topic)) await this.#delete(topic);
    else if (!topic.isPermanent) await this.#takeAway(topic);
  }

  #takeAway(topic: TopicOracle): Promise<void> {
    if (topic.trims === undefined || (topic.isPurged && this.below(3) === 0)) return this.purge(topic);
    return this.trim(topic, this.below(4) === 0 ? ALL_SEGMENTS : 1 + this.below(SEGMENTS_MAX));
  }

  #isFirst({ name }: TopicOracle): boolean {
    return Number(name.slice(1)) <= TOPICS_KEPT;
  }

  /** Makes a topic; every other one loses what it has now and then. */
  async create(): Promise<void> {
    this.#made += 1;
    const name = `t${this.#made}`;
    const partitionsCount = 1 + this.below(PARTITIONS_MAX);
    const plan = this.world.plan.topic(this.#made);
    const partitions = Array.from({ length: partitionsCount }, (_, at) => this.#oracleOf(name, at, plan));
    // The first one, which stays and rolls, is replicated where anything is.
    const isPersisted = this.#isPersisted || (this.below(2) === 0 && this.#made > 1);
    const durability = isPersisted ? "persisted" : "replicated";
    const options = optionsOf(plan, durability);
    const stream = toIdentifier(STREAM);
    await this.#change({
      name: "CreateTopic",
      body: encodeCreateTopic({ stream, name, partitionsCount, options }),
      doneAlready: ErrorCode.TopicNameAlreadyExists,
    });
    this.world.topics.push(...partitions);
    const read = await this.client.ask("GetTopic", encodeGetTopic(placeOf({ name })));
    const payload = payloadOf(read, `GetTopic of ${name}`, this.excuses({ mayBeUnknown: false }));
    assert.notEqual(payload?.length, 0, `${name} is known where it was made`);
  }

  #oracleOf(name: string, partitionId: number, { isPurged, isTrimmed, expiryMs }: TopicPlan): TopicOracle {
    const trims = new Trims({ nowMs: () => this.world.nowMs, expiryMs });
    const isPermanent = !isPurged && !isTrimmed;
    const place = { name, partitionId, isPermanent, isPurged };
    return new TopicOracle(isTrimmed ? { ...place, trims } : place);
  }

  async #delete(topic: TopicOracle): Promise<void> {
    const partitions = this.world.partitionsOf(topic);
    for (const one of partitions) one.state = "unsure";
    await this.#change({
      name: "DeleteTopic",
      body: encodeDeleteTopic(placeOf(topic)),
      doneAlready: ErrorCode.TopicIdNotFound,
    });
    for (const one of partitions) one.state = "deleted";
  }

  /** Purges a topic. */
  async purge(topic: TopicOracle): Promise<void> {
    const partitions = this.world.partitionsOf(topic);
    for (const one of partitions) one.purgeBegins();
    await this.#change({ name: "PurgeTopic", body: encodePurgeTopic(placeOf(topic)) });
    for (const one of partitions) one.purgeEnds();
  }

  /** Deletes the oldest segments of a partition. */
  async trim(topic: TopicOracle, segmentsCount: number): Promise<void> {
    const { trims, partitionId } = topic;
    trims?.begins();
    const body = encodeDeleteSegments({ ...placeOf(topic), partitionId, segmentsCount });
    await this.#change({ name: "DeleteSegments", body });
    trims?.ends();
    this.world.trims += 1;
  }

  /** Deletes all segments but the last while nobody writes; where no offset is stored none stays. */
  async trimAll(topic: TopicOracle): Promise<void> {
    await this.trim(topic, ALL_SEGMENTS);
    if (!topic.isPurged) return;
    const read = await this.client.ask("GetTopic", encodeGetTopic(placeOf(topic)));
    const payload = payloadOf(read, `GetTopic of ${topic.name}`, this.excuses({ mayBeUnknown: false }));
    const found = payload && decodeGetTopicReply(payload)?.partitions[topic.partitionId];
    const text = `${topic.label} has one segment where the deletion of the others was answered`;
    if (payload !== undefined) assert.equal(found?.segmentsCount, 1, text);
  }

  /**
   * Makes a change. A connection that ends is logged out, and the next one's session knows nothing of a try
   * whose answer was lost: then it is answered with what that has made of the catalog.
   */
  async #change(change: {
    readonly name: "CreateTopic" | "DeleteTopic" | "PurgeTopic" | "DeleteSegments";
    readonly body: Uint8Array;
    readonly doneAlready?: number;
  }): Promise<void> {
    const { name, body, doneAlready } = change;
    const { answer, isRetried } = await carryOut(this, {
      name,
      body,
      mayBeGone: () => name === "DeleteTopic",
    });
    const code = answer?.code ?? 0;
    const isDone = code === doneAlready || code === ErrorCode.RequestAlreadyApplied;
    assert.ok(code === 0 || (isRetried && isDone), `${name} is done, not answered ${code}`);
  }
}

function optionsOf({ segmentSize, expiryMs }: TopicPlan, durability: string) {
  const options: { readonly key: string; readonly value: TypedField }[] = [];
  for (const key of ["durability", "consumer_offset_durability"])
    options.push({ key, value: typedField("string", durability) });
  if (segmentSize !== undefined)
    options.push({ key: "segment_size", value: typedField("uint64", BigInt(segmentSize)) });
  if (expiryMs !== undefined)
    options.push({ key: "message_expiry", value: typedField("uint64", BigInt(expiryMs) * 1000n) });
  return options;
}
