import { NamedSet } from "./named-set.ts";
import type { StreamEntry } from "./stream.ts";
import type { User } from "./user.ts";

/** The whole state that ops change and snapshots hold. */
export class Catalog {
  readonly streams = new NamedSet<StreamEntry>();
  readonly users = new NamedSet<User>();
  /** Last op that was applied, 0 before the first. */
  appliedOp = 0;
}
