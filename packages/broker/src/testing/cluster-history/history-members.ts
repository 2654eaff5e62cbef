import assert from "node:assert/strict";
import {
  type Consumer,
  decodeSyncConsumerGroupReply,
  encodeJoinConsumerGroup,
  encodeStoreConsumerOffset,
  encodeSyncConsumerGroup,
  toIdentifier,
} from "@millrace/protocol";
import { pollBody } from "../test-polls.ts";
import { Actor, POLL_COUNT, placeOf } from "./history-actors.ts";
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
      const given = await this.#poll(partition, assigned.generation);
      if (given === undefined || (mayForget && this.below(4) === 0)) continue;
      await this.#commit(partition, given);
    }
  }

  async #poll(
    partition: TopicOracle,
    generation: number,
  ): Promise<{ offset: number; by: Reader } | undefined> {
    const { connection } = this.client;
    const { partitionId } = partition;
    const strategy = { kind: "next" } as const;
    const poll = {
      ...placeOf(partition),
      partitionId,
      consumer: GROUP_CONSUMER,
      count: POLL_COUNT,
      strategy,
    };
    const answer = await this.client.ask("PollMessages", pollBody(poll));
    const payload = payloadOf(answer, "PollMessages for a group", this.excuses({ mayBeUnknown: false }));
    const messages = payload && servedMessages(payload, partitionId);
    const last = messages?.at(-1);
    if (messages === undefined || last === undefined) return undefined;
    partition.read(messages);
    const { id } = this.client;
    const range = `${messages[0]?.offset} +${messages.length}`;
    const where = `on ${this.client.node}, generation ${generation}`;
    this.world.trace(`c${id}`, `is given ${partition.label}@${range} ${where}`);
    const by = {
      ...{ member: id, generation, nowMs: this.world.nowMs },
      isConnected: () => this.client.connection === connection,
    };
    this.#group.given(partition, messages, by);
    return { offset: last.offset, by };
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
