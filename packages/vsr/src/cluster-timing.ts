/**
 * How long a group of several replicas waits for what, in ticks of 10 ms unless it says otherwise.
 *
 * A host makes it from its `[cluster]` settings, rounded down, at least one tick. What is repeated backs off:
 * each repetition waits twice as long as the one before, up to 16 times the interval, with jitter.
 * @see server-semantics, section 19, timing
 */
export interface ClusterTiming {
  /** Without a word from the primary, or without a commit while ops are waiting: ask for the next view. */
  readonly heartbeatTimeout: number;
  /** The primary tells everybody its commit number; the group's heartbeat. Never backs off. */
  readonly commitBroadcastInterval: number;
  readonly prepareRetransmitInterval: number;
  readonly viewChangeRetransmitInterval: number;
  /** A view that has not begun by then is given up for the next one. */
  readonly viewChangeStatusTimeout: number;
  readonly requestStartViewRetransmitInterval: number;
  /** Requests for a startView, a count: a restarted replica that hears nothing then turns to an election. */
  readonly viewProbeAttemptsMax: number;
  readonly repairRetryInterval: number;
  /** A gap that the primary's own repetitions have not closed by then is repaired. */
  readonly repairGapDebounceInterval: number;
  /** Ops asked for in one round, a count. */
  readonly repairChunkMax: number;
}

/** The documented defaults; the heartbeat is 2 s, ours. */
export const CLUSTER_TIMING: ClusterTiming = {
  heartbeatTimeout: 200,
  commitBroadcastInterval: 50,
  prepareRetransmitInterval: 25,
  viewChangeRetransmitInterval: 50,
  viewChangeStatusTimeout: 500,
  requestStartViewRetransmitInterval: 100,
  viewProbeAttemptsMax: 5,
  repairRetryInterval: 100,
  repairGapDebounceInterval: 100,
  repairChunkMax: 128,
};
