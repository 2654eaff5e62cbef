import type { VerifyDamage, VerifyPartitionReply, VerifyPlace } from "@millrace/client";

/** Which partition was looked at. */
export interface PartitionName {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly partitionId: number;
}

/** What a whole verification of one partition came to. */
export interface VerifiedPartition extends PartitionName {
  readonly bytes: number;
  readonly batches: number;
  readonly messages: number;
  readonly damages: readonly VerifyDamage[];
  /** Why the partition takes no writes; empty when it does. */
  readonly fault: string;
}

/** One step of a verification, from a place on; a server makes it, or the storage of this process. */
export type VerifyStepCall = (from: VerifyPlace | undefined) => Promise<VerifyPartitionReply>;

/** Makes step after step until a partition is looked through. */
export async function verifyToEnd(name: PartitionName, step: VerifyStepCall): Promise<VerifiedPartition> {
  const damages: VerifyDamage[] = [];
  let [bytes, batches, messages, fault] = [0, 0, 0, ""];
  let from: VerifyPlace | undefined;
  do {
    const reply: VerifyPartitionReply = await step(from);
    bytes += reply.bytes;
    batches += reply.batches;
    messages += reply.messages;
    fault ||= reply.fault;
    damages.push(...reply.damages);
    from = reply.next;
  } while (from !== undefined);
  return { ...name, bytes, batches, messages, damages, fault };
}

/** True when something of the partition is not as it was written. */
export function isDamaged({ damages, fault }: VerifiedPartition): boolean {
  return damages.length > 0 || fault !== "";
}
