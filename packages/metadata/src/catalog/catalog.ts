import { GroupTable } from "../consumer-groups/group-table.ts";
import { NamedSet } from "./named-set.ts";
import type { StreamEntry } from "./stream.ts";
import { UserSet } from "./user-set.ts";

/** The whole state that ops change and snapshots hold. */
export class Catalog {
  readonly streams = new NamedSet<StreamEntry>();
  readonly users = new UserSet();
  readonly groups = new GroupTable();
  /** Last op that was applied, 0 before the first. */
  appliedOp = 0;
}
