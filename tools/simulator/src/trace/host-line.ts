import type { GroupHost } from "../node/group-host.ts";

/** One line of the trace: when, who, how it stands now, what came, and what the replica wanted of it. */
export function hostLine(host: GroupHost, what: string, outputs: readonly string[]): string {
  const { view, logView, status, op, commit, isPrimary } = host.replica;
  const state = `v${view}/${logView} ${status}${isPrimary ? " primary" : ""} ${op}/${commit}`;
  const wanted = outputs.length === 0 ? "" : ` > ${outputs.join("; ")}`;
  const who = `r${host.node.index} g${host.group.group}`;
  return `${timeText(host.node.world.queue.nowMicros)} ${who} ${state} < ${what}${wanted}`;
}

/** Simulated time in milliseconds, at the head of every line. */
export function timeText(micros: number): string {
  return (micros / 1000).toFixed(3).padStart(10);
}
