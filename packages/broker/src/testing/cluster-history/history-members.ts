import assert from "node:assert/strict";
import { ErrorCode } from "@millrace/errors";
import {
  type Consumer,
  decodeGetConsumerOffsetReply,
  decodeSyncConsumerGroupReply,
  encodeGetConsumerOffset,
  encodeJoinConsumerGroup,
  encodeStoreConsumerOffset,
  encodeSyncConsumerGroup,
  type PollMessages,
  toIdentifier,
} from "@millrace/protocol";
import type { PolledMessage } from "../test-polls.ts";
import { Actor, placeOf, pollTopic } from "./history-actors.ts";
import type { GroupOracle, Reader } from "./history-group-oracle.ts";
import { servedMessages } from "./history-messages.ts";
import { carryOut, isTransient } from "./history-operation.ts";
import type { TopicOracle } from "./history-oracle.ts";
import { payloadOf } from "./history-reads.ts";
import type { HistoryWorld } from "./history-world.ts";

/** The group of all members. */
export const GROUP = "g";
/** The same as one whose offsets are kept. */
export const GROUP_CONSUMER: Consumer = { kind: "group", id: toIdentifier(GROUP) };

/** A member of a consumer group that goes from node to node, reads what it owns and commits it mostly. */
export class Member extends Actor {
  protected readonly pauseMaxMs = 400;
  readonly #group: GroupOracle;

  constructor(world: HistoryWorld, number: number, group: GroupOracle) {
    super(world, number);
    this.#group = group;
  }

  protected async act(): Promise<void> {
    if (this.below(5) === 0) this.client.leave();
    if (this.below(3) === 0 || this.client.connection === undefined) {
      if (!(await this.client.goTo(this.below(this.world.cluster.nodes.length)))) return;
    }
    await this.read({ mayForget: true });
  }

  /** Joins, looks what it owns, reads it and commits that. */
  async read({ mayForget }: { readonly mayForget: boolean }): Promise<void> {
    const place = { ...placeOf(this.#group.topic), group: toIdentifier(GROUP) };
    const { generation: known } = this.#group.owners;
    const joined = await this.client.ask(
      "JoinConsumerGroup",
      encodeJoinConsumerGroup(place),
      this.client.takeNumber(),
    );
    if (joined === undefined || isTransient(joined.code)) return;
    assert.equal(joined.code, 0, "joining is answered");
    const answer = await this.client.ask("SyncConsumerGroup", encodeSyncConsumerGroup(place));
    const payload = payloadOf(answer, "SyncConsumerGroup", this.excuses({ mayBeUnknown: false }));
    const assigned = payload && decodeSyncConsumerGroupReply(payload);
    if (assigned === undefined) return;
    this.#group.owners.assigned({ ...assigned, member: this.client.id }, known);
    for (const partitionId of assigned.partitions) {
      const partition = this.#group.partition(partitionId);
      if (this.world.plan.isAutoCommit()) {
        await this.#pollAndCommit(partition, assigned.generation);
        continue;
      }
      const given = await this.#poll(partition, assigned.generation);
      if (given === undefined || (mayForget && this.below(4) === 0)) continue;
      await this.#commit(partition, given);
    }
  }

  async #poll(
    partition: TopicOracle,
    generation: number,
  ): Promise<{ offset: number; by: Reader } | undefined> {
    const by = this.#readerOf(generation);
    const answer = await this.client.ask("PollMessages", nextBody(partition));
    const payload = payloadOf(answer, "PollMessages for a group", this.excuses({ mayBeUnknown: false }));
    const messages = payload && servedMessages(payload, partition.partitionId);
    const last = messages?.at(-1);
    if (messages === undefined || last === undefined) return undefined;
    partition.read(messages);
    const given = { ...by, nowMs: this.world.nowMs };
    this.#trace("is given", partition, messages, generation);
    this.#group.given(partition, messages, given);
    return { offset: last.offset, by: given };
  }

  /** A poll that commits what it brings. */
  async #pollAndCommit(partition: TopicOracle, generation: number): Promise<void> {
    const poll = this.#group.polling(partition, this.#readerOf(generation));
    const answer = await this.client.ask("PollMessages", nextBody(partition, { autoCommit: true }));
    const excuses = { ...this.excuses({ mayBeUnknown: false }), mayCommit: true };
    const payload = payloadOf(answer, "PollMessages for a group with auto-commit", excuses);
    const messages = payload && servedMessages(payload, partition.partitionId);
    if (messages !== undefined && messages.length > 0) {
      partition.read(messages);
      this.#trace("is given and commits", partition, messages, generation);
      poll.brought(messages);
      this.world.autoCommits += 1;
      return;
    }
    const isUnknown = answer === undefined || answer.code === ErrorCode.TransientNotCommitted;
    if (isUnknown)
      this.world.trace(`c${this.client.id}`, `lost a poll with auto-commit of ${partition.label}`);
    poll.ended(isUnknown ? "unknown" : "refused");
  }

  #readerOf(generation: number): Reader {
    const { id, connection } = this.client;
    const isConnected = () => this.client.connection === connection;
    return { member: id, generation, nowMs: this.world.nowMs, connection, isConnected };
  }

  #trace(what: string, { label }: TopicOracle, messages: readonly PolledMessage[], generation: number): void {
    const range = `${messages[0]?.offset} +${messages.length}`;
    const where = `on ${this.client.node}, generation ${generation}`;
    this.world.trace(`c${this.client.id}`, `${what} ${label}@${range} ${where}`);
  }

  /** Looks what is stored for the group, and where messages are that nobody has told of. */
  async look(): Promise<void> {
    for (const partition of this.world.partitionsOf(this.#group.topic)) {
      const { partitionId } = partition;
      const excuses = this.excuses({ mayBeUnknown: false });
      const read = await this.client.ask("PollMessages", pollTopic(partition));
      const payload = payloadOf(read, "PollMessages of everything", excuses);
      if (payload !== undefined) partition.read(servedMessages(payload, partitionId), 0);
      const place = { ...placeOf(partition), partitionId, consumer: GROUP_CONSUMER };
      const asked = await this.client.ask("GetConsumerOffset", encodeGetConsumerOffset(place));
      const stored = payloadOf(asked, "GetConsumerOffset of the group", excuses);
      if (stored !== undefined)
        this.#group.stored(partition, decodeGetConsumerOffsetReply(stored)?.storedOffset);
    }
  }

  async #commit(partition: TopicOracle, { offset, by }: { offset: number; by: Reader }): Promise<void> {
    const ended = this.#group.committing(partition, offset, by);
    const place = { ...placeOf(partition), partitionId: partition.partitionId, consumer: GROUP_CONSUMER };
    const { answer, isRetried } = await carryOut(this, {
      name: "StoreConsumerOffset",
      body: encodeStoreConsumerOffset({ ...place, offset: BigInt(offset), ack: "quorum" }),
      // Somebody else owns it by now.
      mayBeGone: () => true,
    });
    assert.ok(answer === undefined || answer.code === 0, `committing is answered ${answer?.code}`);
    if (answer !== undefined) ended("accepted");
    else ended(isRetried ? "unknown" : "refused");
  }
}

/** Body of a member's poll of what comes next. */
function nextBody(partition: TopicOracle, options: Partial<PollMessages> = {}): Uint8Array {
  const strategy = { kind: "next" } as const;
  return pollTopic(partition, 0, { consumer: GROUP_CONSUMER, strategy, ...options });
}
