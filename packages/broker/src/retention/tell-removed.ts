import type { Log } from "@millrace/platform";
import type { PartitionIdentity } from "@millrace/storage";
import type { RetentionMetrics } from "../metrics.ts";
import type { Truncation } from "./truncation.ts";

/** Why segments went. */
export type RemovalReason = "expiry" | "size" | "request";

/** Counts what went and says so in the log; nothing of a truncation that took nothing. */
export function tellRemoved(
  to: { readonly log: Log; readonly metrics: RetentionMetrics },
  identity: PartitionIdentity,
  removed: Truncation,
  reason: RemovalReason,
): void {
  const { segmentsCount, messagesCount, byteLength, firstOffset } = removed;
  if (segmentsCount === 0) return;
  const { metrics, log } = to;
  segmentsCounter(metrics, reason).add(segmentsCount);
  metrics.messagesRemoved.add(messagesCount);
  metrics.bytesFreed.add(byteLength);
  log.info("Segments were removed.", {
    ...identity,
    reason,
    segments: segmentsCount,
    messages: messagesCount,
    bytes: byteLength,
    firstOffset,
  });
}

function segmentsCounter(metrics: RetentionMetrics, reason: RemovalReason) {
  if (reason === "request") return metrics.segmentsDeleted;
  return reason === "expiry" ? metrics.segmentsExpired : metrics.segmentsOverSize;
}
