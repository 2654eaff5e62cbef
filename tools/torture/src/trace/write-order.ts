import { Violation } from "../oracle/violation.ts";
import { systemCalls, type TracedCall } from "./system-calls.ts";

/** A reply that confirms one batch: 256 bytes of header, 24 of confirmation. */
const CONFIRMATION_LENGTH = 280;
const WRITES = new Set(["pwrite64", "pwritev", "pwritev2"]);
const SYNCS = new Set(["fdatasync", "fsync"]);
const REPLIES = new Set(["write", "writev", "sendmsg", "sendto"]);

/** What must have returned before a confirmation begins to leave. */
export interface Promised {
  /** Part of the paths of the topic's files. */
  readonly folder: string;
  /** True when both files must be synced, too. */
  readonly isSynced: boolean;
}

/** Confirmations that were seen, by topic. */
export type ConfirmedCounts = ReadonlyMap<Promised, number>;

/**
 * Checks a trace of a server whose client sends one batch at a time: before each confirmation begins to
 * leave,
 * a write of `.log` and one of `.ops` have returned since the confirmation before, and on synced topics a
 * datasync of each after its write.
 * @throws Violation lost for a confirmation that left too early
 */
export function checkWriteOrder(lines: Iterable<string>, topics: readonly Promised[]): ConfirmedCounts {
  const counts = new Map(topics.map((topic) => [topic, 0]));
  let done = new Map<Promised, Set<string>>();
  for (const { kind, call, result } of systemCalls(lines)) {
    const topic = topics.find(({ folder }) => call.target.includes(folder));
    if (topic !== undefined && kind === "ended" && result >= 0) note(done, topic, call);
    if (kind !== "began" || !isConfirmation(call)) continue;
    const written = topics.find((one) => done.has(one));
    if (written === undefined) throw new Violation("lost", "a confirmation left before any write returned");
    demandAll(written, done.get(written) ?? new Set());
    counts.set(written, (counts.get(written) ?? 0) + 1);
    done = new Map();
  }
  return counts;
}

function note(done: Map<Promised, Set<string>>, topic: Promised, { name, target }: TracedCall): void {
  const file = /\.(log|ops)$/.exec(target)?.[1];
  if (file === undefined) return;
  const steps = done.get(topic) ?? new Set();
  if (WRITES.has(name)) steps.add(`write ${file}`);
  // A sync counts for what was written before it.
  else if (SYNCS.has(name) && steps.has(`write ${file}`)) steps.add(`sync ${file}`);
  if (steps.size > 0) done.set(topic, steps);
}

function isConfirmation({ name, target, args }: TracedCall): boolean {
  if (!REPLIES.has(name) || !target.startsWith("TCP")) return false;
  return new RegExp(`(iov_len=|, )${CONFIRMATION_LENGTH}\\b`).test(args);
}

function demandAll({ folder, isSynced }: Promised, done: ReadonlySet<string>): void {
  const wanted = ["write log", "write ops", ...(isSynced ? ["sync log", "sync ops"] : [])];
  const missing = wanted.filter((step) => !done.has(step));
  if (missing.length === 0) return;
  throw new Violation("lost", `${folder}: a confirmation left before this returned: ${missing.join(", ")}`);
}
