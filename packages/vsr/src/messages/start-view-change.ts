/**
 * To everybody: the primary of the view before `view` is silent; let us go to `view`.
 *
 * While `agreed` is false the sender asks and still stands in `view - 1`. Once a view-change quorum has asked
 * it goes to `view` and says so with `agreed`; whoever hears that goes too. A replica that cannot hear the
 * others thus never leaves its view by itself.
 * @see Viewstamped Replication Revisited, section 4.2, step 1. Departure: the paper's sender goes at once.
 */
export interface StartViewChange {
  readonly kind: "startViewChange";
  readonly view: number;
  readonly replica: number;
  readonly agreed: boolean;
}
