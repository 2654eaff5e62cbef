/** Where the soak happens. */
export const SOAK_PLACE = { stream: "soak", topic: "soak", group: "soak" };

/** Partitions of its topic. */
export const SOAK_PARTITIONS = 12;

/**
 * Settings of its server: short enough that two minutes see many hand-overs, and long enough for slow
 * machines.
 */
export const SOAK_SETTINGS = {
  MILLRACE_CONSUMER_GROUP_REBALANCING_TIMEOUT: "5 s",
  MILLRACE_HEARTBEAT_INTERVAL: "4 s",
};

/**
 * Longest time a partition may be held by who does not read it, milliseconds: 5 s for a hand-over; a silent
 * member is gone after 1.2 heartbeats and the time until the server looks, 5.2 s.
 */
export const HAND_OVER_LIMIT_MS = 5200;

/** What a message may wait beyond that. */
export const GRACE_MS = 5000;
