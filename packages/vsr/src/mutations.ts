/**
 * Planted bugs, one switch each, for the tests that prove that such a bug would be found.
 *
 * Only a simulator or a test gives them; a host never does.
 */
export type MutationName =
  /** A backup says prepareOk when a prepare comes, not when its journal has it. */
  | "ackBeforeJournalWrite"
  /** A restarted replica takes its log view for 0. */
  | "forgetLogView"
  /** The primary commits what only its own journal has. */
  | "commitWithoutQuorum"
  /** A replica takes and acknowledges a prepare of a view that is over. */
  | "acceptOldView"
  /** The new primary overlooks one nack when it merges logs. */
  | "loseNack"
  /** A replica that may have lost ops testifies that it never had them. */
  | "nackWhatMayBeLost";

/** The switches that are on. */
export type Mutations = Readonly<Partial<Record<MutationName, true>>>;
