import type { SeededRandom } from "@millrace/testkit";

/** What a call works on. Folders: `partition` (one partition's) and `metadata`. */
type FileClass =
  | "log"
  | "ops"
  | "index"
  | "partition"
  | "journal"
  | "snapshot"
  | "superblock"
  | "metadata"
  | "quarantine";

/** Before the call, after it and before anybody hears of it, or when it is done in part. */
type When = "before" | "within" | "after";

/** A place in the server's work where it is killed: the `count`-th call of a kind on a kind of file. */
export interface KillPoint {
  readonly call: "create" | "write" | "datasync" | "sync" | "truncate" | "rename" | "remove";
  readonly file: FileClass;
  readonly when: When;
  readonly count: number;
  /** How much of the call is done, when it is killed within. */
  readonly share: number;
}

interface PointKind {
  readonly call: KillPoint["call"];
  readonly file: FileClass;
  /** Some such call comes about this often in a second of load, and in a start that has something to do. */
  readonly underLoadMax: number;
  readonly inStartMax: number;
}

const row = (
  call: KillPoint["call"],
  file: FileClass,
  underLoadMax: number,
  inStartMax: number,
): PointKind => ({
  call,
  file,
  underLoadMax,
  inStartMax,
});

/** Every kind of call that changes files and that a server under this load makes; 0 where it makes none. */
const KINDS: readonly PointKind[] = [
  row("write", "log", 300, 4),
  row("write", "ops", 300, 12),
  row("write", "index", 12, 2),
  row("write", "journal", 120, 2),
  row("write", "snapshot", 1, 0),
  row("write", "superblock", 1, 1),
  row("write", "quarantine", 0, 3),
  row("datasync", "log", 80, 4),
  row("datasync", "ops", 80, 8),
  row("datasync", "journal", 120, 2),
  row("datasync", "snapshot", 1, 0),
  row("datasync", "superblock", 1, 1),
  row("datasync", "quarantine", 0, 3),
  row("create", "log", 20, 2),
  row("create", "ops", 20, 2),
  row("create", "journal", 1, 0),
  row("rename", "snapshot", 1, 0),
  row("rename", "superblock", 1, 1),
  row("sync", "partition", 20, 4),
  row("sync", "metadata", 2, 2),
  row("truncate", "log", 0, 3),
  row("truncate", "ops", 0, 3),
  row("truncate", "journal", 0, 1),
  row("remove", "log", 12, 2),
  row("remove", "ops", 12, 2),
  row("remove", "index", 12, 2),
  row("remove", "journal", 1, 0),
  row("remove", "partition", 4, 1),
];

/** Chooses a point that the server may reach under load, or in a start. */
export function chooseKillPoint(random: SeededRandom, phase: "load" | "start"): KillPoint {
  const maxOf = (kind: PointKind) => (phase === "load" ? kind.underLoadMax : kind.inStartMax);
  const kind = random.pick(KINDS.filter((one) => maxOf(one) > 0));
  const { call, file } = kind;
  const isDivisible = call === "write" || (call === "remove" && file === "partition");
  const when = random.pick<When>(isDivisible ? ["before", "within", "after"] : ["before", "after"]);
  // Early calls are as frequent as late ones on a logarithmic scale.
  const count = Math.max(1, Math.round(maxOf(kind) ** random.fraction()));
  return { call, file, when, count, share: random.fraction() };
}

/** A point as a line of a run names it, for example `within write 17 of ops`. */
export function describeKillPoint({ call, file, when, count }: KillPoint): string {
  return `${when} ${call} ${count} of ${file}`;
}
