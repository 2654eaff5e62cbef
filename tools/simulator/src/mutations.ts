import type { MutationName as ReplicaMutation } from "@millrace/vsr";

/** Planted bugs that a run can have: those of the replicas, and one of their hosts. */
export type MutationName = ReplicaMutation | "reuseOffsets";

/** All of them, as they are named on the command line. */
export const MUTATIONS: readonly MutationName[] = [
  "ackBeforeJournalWrite",
  "forgetLogView",
  "commitWithoutQuorum",
  "acceptOldView",
  "reuseOffsets",
  "loseNack",
  "nackWhatMayBeLost",
];

/** Whether a text names one. */
export function isMutation(text: string): text is MutationName {
  return (MUTATIONS as readonly string[]).includes(text);
}
