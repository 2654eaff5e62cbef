import { CodedError, ErrorCode } from "@millrace/errors";
import type { Partitioning } from "@millrace/protocol";
import { keyBytes, type MessageKey } from "./message.ts";

/**
 * Where messages go: in turn over the partitions (the server counts, per topic), into one partition, or
 * where the hash of a key leads.
 */
export type PartitionChoice = "balanced" | { readonly partition: number } | { readonly key: MessageKey };

const PARTITION_MAX = 4_294_967_295;

/**
 * The partitioning as the protocol writes it.
 *
 * @throws CodedError InvalidKeyValueLength, InvalidArgument for a partition that is no u32
 */
export function partitioningOf(choice: PartitionChoice = "balanced"): Partitioning {
  if (choice === "balanced") return { kind: "balanced" };
  if (typeof choice !== "object" || choice === null) {
    const message = `partitioning is "balanced", { partition } or { key }.`;
    throw new CodedError(ErrorCode.InvalidArgument, message);
  }
  if ("key" in choice) return { kind: "key", key: keyBytes(choice.key) };
  const { partition } = choice;
  if (Number.isInteger(partition) && partition >= 0 && partition <= PARTITION_MAX) {
    return { kind: "partition", partitionId: partition };
  }
  throw new CodedError(ErrorCode.InvalidArgument, `${partition} is no partition number; they start at 0.`);
}
