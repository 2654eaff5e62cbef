/** Everything that may go wrong in a run. */
export const FAULT_KINDS = [
  "kill",
  "power",
  "kill-all",
  "ambush",
  "pause",
  "isolate",
  "partition",
  "one-way",
  "slow-link",
  "storm",
  "slow-disk",
  "rot",
  "wipe",
  "drift",
] as const;

/** One of them. */
export type FaultKind = (typeof FAULT_KINDS)[number];
