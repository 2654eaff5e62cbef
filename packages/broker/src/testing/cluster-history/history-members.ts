import assert from "node:assert/strict";
import {
  type Consumer,
  decodeSyncConsumerGroupReply,
  encodeJoinConsumerGroup,
  encodeStoreConsumerOffset,
  encodeSyncConsumerGroup,
  toIdentifier,
} from "@millrace/protocol";
import { pollBody, polled } from "../test-polls.ts";
import { Actor, POLL_COUNT, placeOf } from "./history-actors.ts";
import type { GroupOracle } from "./history-group-oracle.ts";
import { carryOut } from "./history-operation.ts";
import type { TopicOracle } from "./history-oracle.ts";
import type { HistoryWorld } from "./history-world.ts";

/** The group of all members. */
export const GROUP = "g";
const CONSUMER: Consumer = { kind: "group", id: toIdentifier(GROUP) };

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
    const joined = await this.client.ask(
      "JoinConsumerGroup",
      encodeJoinConsumerGroup(place),
      this.client.takeNumber(),
    );
    if (joined?.code !== 0) return;
    const answer = await this.client.ask("SyncConsumerGroup", encodeSyncConsumerGroup(place));
    if (answer?.code !== 0) return;
    const assigned = decodeSyncConsumerGroupReply(answer.payload);
    for (const partitionId of assigned?.partitions ?? []) {
      const partition = this.#group.partition(partitionId);
      const offset = await this.#poll(partition, assigned?.generation ?? 0);
      if (offset === undefined || (mayForget && this.below(4) === 0)) continue;
      await this.#commit(partition, offset);
    }
  }

  async #poll(partition: TopicOracle, generation: number): Promise<number | undefined> {
    const { connection } = this.client;
    const { partitionId } = partition;
    const strategy = { kind: "next" } as const;
    const poll = { ...placeOf(partition), partitionId, consumer: CONSUMER, count: POLL_COUNT, strategy };
    const answer = await this.client.ask("PollMessages", pollBody(poll));
    if (answer?.code !== 0) return undefined;
    const { messages } = polled(answer.payload);
    if (messages.length === 0) return undefined;
    partition.read(messages);
    const { id } = this.client;
    const range = `${messages[0]?.offset} +${messages.length}`;
    const by = `on ${this.client.node}, generation ${generation}`;
    this.world.trace(`c${id}`, `is given ${partition.label}@${range} ${by}`);
    this.#group.given(partition, messages, {
      ...{ member: id, generation, nowMs: this.world.nowMs },
      isConnected: () => this.client.connection === connection,
    });
    return messages.at(-1)?.offset;
  }

  async #commit(partition: TopicOracle, offset: number): Promise<void> {
    this.#group.committing(partition, offset);
    const place = { ...placeOf(partition), partitionId: partition.partitionId, consumer: CONSUMER };
    const { answer } = await carryOut(this, {
      name: "StoreConsumerOffset",
      body: encodeStoreConsumerOffset({ ...place, offset: BigInt(offset), ack: "quorum" }),
      // Somebody else owns it by now.
      mayBeGone: () => true,
    });
    assert.ok(answer === undefined || answer.code === 0, `committing is answered ${answer?.code}`);
    this.#group.committed(partition, this.client.id);
  }
}
