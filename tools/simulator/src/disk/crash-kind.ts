/** How a process ends: `kill` keeps what the system was given, `power` loses what was not synced. */
export type CrashKind = "kill" | "power";

/** When an op counts as written: handed to the system, or synced. */
export type Durability = "replicated" | "persisted";
