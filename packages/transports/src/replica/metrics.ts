import type { Counter, Metrics } from "@millrace/platform";
import { REFUSAL_REASONS, type RefusalReason } from "./handshake/refusal.ts";

/** What a bus counts. */
export interface ReplicaBusMetrics {
  readonly framesSent: Counter;
  readonly bytesSent: Counter;
  readonly framesReceived: Counter;
  readonly bytesReceived: Counter;
  /** Frames for a peer that is not connected. */
  readonly droppedDown: Counter;
  /** Frames for a peer whose queue is full. */
  readonly droppedFull: Counter;
  readonly framesInvalid: Counter;
  readonly connectionsLost: Counter;
  readonly refused: Readonly<Record<RefusalReason, Counter>>;
}

/** Declares the bus's metrics, once per bus. */
export function declareReplicaBusMetrics(
  metrics: Metrics,
  gauges: { readonly peersConnected: () => number; readonly framesQueued: () => number },
): ReplicaBusMetrics {
  metrics.gauge("replica_peers_connected", "Other replicas that are connected", gauges.peersConnected);
  metrics.gauge("replica_frames_queued", "Frames that wait to be written to replicas", gauges.framesQueued);
  const dropped = (reason: string) =>
    metrics.counter("replica_frames_dropped_total", "Frames for replicas that were dropped", { reason });
  const refused = (reason: RefusalReason) =>
    metrics.counter("replica_connections_refused_total", "Connections between replicas that were refused", {
      reason,
    });
  return {
    framesSent: metrics.counter("replica_frames_sent_total", "Frames sent to replicas"),
    bytesSent: metrics.counter("replica_bytes_sent_total", "Bytes sent to replicas"),
    framesReceived: metrics.counter("replica_frames_received_total", "Frames received from replicas"),
    bytesReceived: metrics.counter("replica_bytes_received_total", "Bytes received from replicas"),
    droppedDown: dropped("down"),
    droppedFull: dropped("full"),
    framesInvalid: metrics.counter("replica_frames_invalid_total", "Frames of replicas that were unusable"),
    connectionsLost: metrics.counter("replica_connections_lost_total", "Connections to replicas that ended"),
    refused: Object.fromEntries(REFUSAL_REASONS.map((reason) => [reason, refused(reason)])) as Record<
      RefusalReason,
      Counter
    >,
  };
}
