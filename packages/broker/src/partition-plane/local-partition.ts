import type { CodedError } from "@millrace/errors";
import type { RepairPartitionReply, VerifyPartitionReply } from "@millrace/protocol";
import type { PartitionIdentity, RepairedOffsets, VerifyRequest } from "@millrace/storage";
import { PolledOffsets } from "../consumer-groups/polled-offsets.ts";
import { lookAtRetention, truncatePartition } from "../retention/truncate-partition.ts";
import type { RetentionLook, TruncationOrder, TruncationOutcome } from "../retention/truncation.ts";
import type { ForwardedOps } from "./forwarding/forwarded-ops.ts";
import { findSeen, findSeenHere, type SeenDone } from "./operations/find-seen.ts";
import { deleteOffset, readOffset, storeOffset, storeOffsetForward } from "./operations/offsets.ts";
import { pollPartition } from "./operations/poll.ts";
import { purgeHeld, purgePartition } from "./operations/purge.ts";
import { repairPartition } from "./operations/repair.ts";
import { forgetGroup, groupOffset, storedGroups } from "./operations/server-ops.ts";
import { verifyPartition } from "./operations/verify.ts";
import type { PartitionGroup } from "./partition-group.ts";
import {
  type BatchOp,
  contentsOf,
  type OffsetKey,
  type OffsetOp,
  type PartitionContents,
  type PartitionHandle,
  type PollDone,
  type PollRequest,
  type SeenRequest,
  type StoredOffset,
  type StoreOffsetOp,
} from "./partition-handle.ts";
import type { PartitionHost } from "./partition-host.ts";
import type { PartitionSettings } from "./partition-settings.ts";
import { shownOf } from "./shown-partition.ts";

/** A partition that this shard owns. */
export class LocalPartition implements PartitionHandle {
  readonly polled = new PolledOffsets();
  /** Its consensus group. */
  readonly group: PartitionGroup;
  readonly #host: PartitionHost;

  constructor(identity: PartitionIdentity, host: PartitionHost) {
    this.group = host.add(identity);
    this.#host = host;
  }

  get identity(): PartitionIdentity {
    return this.group.identity;
  }

  get contents(): PartitionContents {
    return contentsOf(shownOf(this.group));
  }

  get purgesBegun(): number {
    return this.group.purges.begun;
  }

  get purgesEnded(): number {
    return this.group.purges.ended;
  }

  get generation(): number | undefined {
    return this.group.partition?.committedPurgeGeneration;
  }

  get isPrimary(): boolean {
    return this.group.replication === undefined || this.group.isPrimary;
  }

  get primary(): number | undefined {
    const { replica, replication } = this.group;
    if (replication === undefined) return 0;
    return replica?.status === "normal" ? replica.primary : undefined;
  }

  afterOpen(callback: () => void): void {
    this.group.afterOpen(callback);
  }

  append(op: BatchOp): void {
    const elsewhere = this.#elsewhere;
    if (elsewhere === undefined || this.group.awaitsView) this.group.submit(op);
    else elsewhere.append(this.group, op);
  }

  poll(request: PollRequest, done: PollDone): void {
    pollPartition(this.group, this.#host.consumerOffsetsMax, request, done);
  }

  readOffset(key: OffsetKey, done: (error: CodedError | undefined, found?: StoredOffset) => void): void {
    readOffset(this.group, key, done);
  }

  storeOffset(op: StoreOffsetOp): void {
    const elsewhere = this.#elsewhere;
    if (elsewhere === undefined) storeOffset(this.group, this.#host.consumerOffsetsMax, op);
    else elsewhere.storeOffset(this.group, op);
  }

  storeOffsetForward(op: StoreOffsetOp, nothingToMove: () => void): void {
    const elsewhere = this.#elsewhere;
    if (elsewhere === undefined) storeOffsetForward(this.group, op, nothingToMove);
    else elsewhere.storeOffsetForward(this.group, op, nothingToMove);
  }

  deleteOffset(op: OffsetOp): void {
    const elsewhere = this.#elsewhere;
    if (elsewhere === undefined) deleteOffset(this.group, op);
    else elsewhere.deleteOffset(this.group, op);
  }

  /** Who passes operations on; nothing where they get their place in the log here. */
  get #elsewhere(): ForwardedOps | undefined {
    return this.group.isBackup && !this.group.isClosed ? this.#host.forwardedOps : undefined;
  }

  /** See `findSeen`. */
  findSeen(request: SeenRequest, done: SeenDone): void {
    findSeen(this.group, this.#host, request, done);
  }

  /** See `findSeenHere`. */
  findSeenHere(request: SeenRequest, done: SeenDone): void {
    findSeenHere(this.group, this.#host.forwardedOps, request, done);
  }

  groupOffset(groupId: number): number | undefined {
    return groupOffset(this.group, groupId);
  }

  storedGroups(): readonly number[] {
    return storedGroups(this.group);
  }

  forgetGroup(groupId: number): Promise<void> {
    this.polled.forget(groupId);
    return forgetGroup(this.group, groupId, this.#host.log);
  }

  async lookAtRetention(options: { readonly forCleaning: boolean }): Promise<RetentionLook> {
    return lookAtRetention(this.group, options);
  }

  truncate(order: TruncationOrder, outcome: TruncationOutcome): void {
    const elsewhere = order.kind === "count" ? this.#elsewhere : undefined;
    if (order.kind === "count" && elsewhere !== undefined) elsewhere.truncate(this.group, order, outcome);
    else truncatePartition(this.group, order, outcome, this.#host.clock);
  }

  verify(request: VerifyRequest): Promise<VerifyPartitionReply> {
    return verifyPartition(this.group, request);
  }

  repair(settings: PartitionSettings, offsets: RepairedOffsets): Promise<RepairPartitionReply> {
    if (this.group.replication !== undefined) return this.#host.refetch(this.group);
    return repairPartition(this.group, offsets, () => this.#host.reopen(this.group, settings, offsets));
  }

  open(settings: PartitionSettings, bornInView?: number): Promise<void> {
    return this.#host.open(this.group, settings, { bornInView });
  }

  purge(generation: number): Promise<boolean> {
    return purgePartition(this.group, generation, this.#host);
  }

  purgeHeld(): Promise<boolean> {
    return purgeHeld(this.group, this.#host);
  }

  remove(): Promise<void> {
    return this.#host.remove(this.group);
  }
}
