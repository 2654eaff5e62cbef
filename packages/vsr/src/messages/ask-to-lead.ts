/**
 * A backup that has the whole log asks the primary of its view to let it lead.
 *
 * Departure from the paper, where views end for want of a primary only.
 */
export interface AskToLead {
  readonly kind: "askToLead";
  readonly view: number;
  readonly replica: number;
  /** End of its log. */
  readonly op: number;
}
