import type { GroupAddress } from "@millrace/framing";
import type { Counter, Metrics } from "@millrace/platform";

type Plane = GroupAddress["kind"];

/** What is counted of the states that one plane of this node fetches. */
export interface TransferMetrics {
  readonly bytes: Counter;
  readonly ended: Counter;
  readonly failed: Counter;
}

/**
 * Declares the metrics of states that this node fetches from others.
 * @param underWay  transfers of a plane under way now
 */
export function declareTransferMetrics(
  metrics: Metrics,
  underWay: (plane: Plane) => number,
): Readonly<Record<Plane, TransferMetrics>> {
  const of = (plane: Plane): TransferMetrics => {
    const name = `replica_${plane}_states_fetching`;
    metrics.gauge(name, `States of groups that are being fetched: ${plane}`, () => underWay(plane));
    const counter = (what: string, help: string) => metrics.counter(what, help, { group: plane });
    return {
      bytes: counter("replica_state_bytes_fetched_total", "Bytes of states fetched from other nodes"),
      ended: counter("replica_states_fetched_total", "States of groups fetched from other nodes and used"),
      failed: counter("replica_state_fetches_failed_total", "Fetches of states that came to nothing"),
    };
  };
  return { metadata: of("metadata"), partition: of("partition") };
}
