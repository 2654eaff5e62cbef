import {
  decodeRepairPartitionReply,
  decodeVerifyPartitionReply,
  encodeFlushUnsavedBuffer,
  encodeGetSnapshot,
  encodeRepairPartition,
  encodeVerifyPartition,
  type GetSnapshot,
  type RepairPartition,
  type RepairPartitionReply,
  toIdentifier,
  type VerifyPartitionReply,
  type VerifyPlace,
} from "@millrace/protocol";
import { checkedU32 } from "../client-options.ts";
import { nothing } from "../connection/requester.ts";
import { GroupCalls } from "./group-calls.ts";
import type { Name } from "./stream-calls.ts";

/** One partition of a topic. */
export interface PartitionPlace {
  readonly stream: Name;
  readonly topic: Name;
  /** Default 0. */
  readonly partitionId?: number;
}

/** From where a step of a verification goes on, and after how many bytes it ends. */
export interface VerifyStepRequest extends PartitionPlace {
  /** `next` of the step before; the beginning by default. */
  readonly from?: VerifyPlace;
  /** The server's choice by default. */
  readonly lengthMax?: number;
}

const FROM_START: VerifyPlace = { segment: 0, opsPosition: 0, logPosition: 0 };

/** Calls for whoever looks after a server: diagnostics and files. */
export class CareCalls extends GroupCalls {
  /** Diagnostics of the server as the bytes of a ZIP file. Needs permission to read servers. */
  getSnapshot(snapshot: GetSnapshot): Promise<Uint8Array> {
    const body = () => encodeGetSnapshot(snapshot);
    return this.request({ command: "GetSnapshot", body, decode: (payload) => payload.slice() });
  }

  /**
   * Asks to write a partition to disk. Servers of 0.9.0 answer FeatureUnavailable: durability is an option of
   * the topic.
   */
  flushUnsavedBuffer(place: PartitionPlace & { readonly fsync?: boolean }): Promise<void> {
    const body = () => encodeFlushUnsavedBuffer({ ...targetOf(place), fsync: place.fsync ?? false });
    return this.request({ command: "FlushUnsavedBuffer", body, decode: nothing });
  }

  /**
   * Has the server check the next stretch of a partition's files; damage is in the answer. Go on with `next`
   * until there is none. Millrace servers only; others answer InvalidCommand.
   */
  verifyPartition(step: VerifyStepRequest): Promise<VerifyPartitionReply> {
    const body = () => {
      const { from = FROM_START, lengthMax = 0 } = step;
      return encodeVerifyPartition({ ...targetOf(step), from, lengthMax });
    };
    return this.request({ command: "VerifyPartition", body, decode: decodeVerifyPartitionReply });
  }

  /**
   * Makes a damaged partition take writes again: a new segment begins behind everything that was there, and
   * no
   * byte is changed or removed. What is damaged goes on answering PartitionDamaged. When the damage hides
   * stored consumer offsets, nothing happens before `offsets` says which count: `known`, those that can still
   * be read, or `none`. Millrace servers only; others answer InvalidCommand.
   */
  repairPartition(
    place: PartitionPlace & { readonly offsets?: RepairPartition["offsets"] },
  ): Promise<RepairPartitionReply> {
    const body = () => encodeRepairPartition({ ...targetOf(place), offsets: place.offsets ?? "proven" });
    return this.request({ command: "RepairPartition", body, decode: decodeRepairPartitionReply });
  }
}

function targetOf({ stream, topic, partitionId = 0 }: PartitionPlace) {
  const place = { stream: toIdentifier(stream), topic: toIdentifier(topic) };
  return { ...place, partitionId: checkedU32("partitionId", partitionId) };
}
