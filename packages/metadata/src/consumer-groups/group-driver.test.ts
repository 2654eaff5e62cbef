// Drives one group of one topic through the catalog. Holds no test itself.
import assert from "node:assert/strict";
import {
  encodeCreateConsumerGroup,
  encodeDeleteConsumerGroup,
  encodeLeaveConsumerGroup,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import type { ApplyResult } from "../committed-op.ts";
import { Driver } from "../driver.test.ts";
import type { Metadata } from "../metadata.ts";
import { MetadataOperation } from "../operation.table.ts";
import type { ConsumerGroup } from "./consumer-group.ts";
import { encodeJoinGroupOp } from "./join-group-op.ts";
import { encodeCompleteRevocationOp, encodeRemoveMemberOp } from "./server-ops.ts";

export const GROUP = { stream: toIdentifier("s"), topic: toIdentifier("t"), group: toIdentifier("g") };
const NOTHING = new Uint8Array(0);

export class GroupDriver {
  readonly driver: Driver;

  constructor(metadata?: Metadata) {
    this.driver = new Driver(metadata);
  }

  /** A stream `s`, a topic `t` with this many partitions, a group `g`. */
  static withPartitions(count: number): GroupDriver {
    const one = new GroupDriver();
    one.driver.createStream("s");
    one.driver.createTopic("s", "t", count);
    assert.equal(one.create("g").code, 0);
    return one;
  }

  create(name: string): ApplyResult {
    const body = encodeCreateConsumerGroup({ ...GROUP, name });
    return this.driver.request(Operation.CreateConsumerGroup, body);
  }

  delete(): ApplyResult {
    return this.driver.request(Operation.DeleteConsumerGroup, encodeDeleteConsumerGroup(GROUP));
  }

  join(client: number, inFlight: readonly number[] = []): ApplyResult {
    const body = encodeJoinGroupOp({ ...GROUP, inFlight });
    return this.driver.applyOp(MetadataOperation.joinConsumerGroup, body, 0, BigInt(client));
  }

  leave(client: number): ApplyResult {
    const body = encodeLeaveConsumerGroup(GROUP);
    return this.driver.applyOp(MetadataOperation.leaveConsumerGroup, body, 0, BigInt(client));
  }

  logout(client: number): ApplyResult {
    return this.driver.applyOp(MetadataOperation.logout, NOTHING, 0, BigInt(client));
  }

  removeMember(client: number): ApplyResult {
    const body = encodeRemoveMemberOp(BigInt(client));
    return this.driver.applyOp(MetadataOperation.removeConsumerGroupMember, body, 0, 0n);
  }

  /** Completes the pending revocation of a partition; nothing when it is not being revoked. */
  complete(partitionId: number): ApplyResult | undefined {
    for (const { slot, revocations } of this.find()?.members ?? []) {
      const pending = revocations.find((one) => one.partitionId === partitionId);
      if (pending === undefined) continue;
      const op = { streamId: 0, topicId: 0, groupId: this.find()?.id ?? 0, source: slot, ...pending };
      return this.driver.applyOp(
        MetadataOperation.completeConsumerGroupRevocation,
        encodeCompleteRevocationOp(op),
        0,
        0n,
      );
    }
    return undefined;
  }

  find(): ConsumerGroup | undefined {
    const { metadata } = this.driver;
    const stream = metadata.findStream(GROUP.stream);
    const topic = stream && metadata.findTopic(stream, GROUP.topic);
    return topic && metadata.groupsOf(topic).find(GROUP.group);
  }

  get group(): ConsumerGroup {
    const group = this.find();
    assert.ok(group !== undefined);
    return group;
  }

  /** Owned partitions by client. */
  owned(): Record<string, readonly number[]> {
    return Object.fromEntries(this.group.members.map(({ client, partitions }) => [client, partitions]));
  }

  /** Partitions that are being revoked, by client. */
  pending(): Record<string, readonly number[]> {
    return Object.fromEntries(
      this.group.members
        .filter(({ revocations }) => revocations.length > 0)
        .map(({ client, revocations }) => [client, revocations.map(({ partitionId }) => partitionId)]),
    );
  }
}
