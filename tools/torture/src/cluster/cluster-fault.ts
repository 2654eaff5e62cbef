import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "@millrace/testkit";
import { NODES } from "@millrace/testkit";
import type { ClusterNodes } from "./cluster-nodes.ts";
import type { CutKind } from "./link-proxy.ts";

/** Longest time a fault lasts. */
const FAULT_MAX_MS = 5000;
const FAULT_MIN_MS = 500;

const KINDS = ["kill", "kill", "kill-all", "pause", "wipe", "cut", "isolate"] as const;

/** What happens in one round, chosen in full beforehand. */
export interface ClusterFault {
  readonly kind: (typeof KINDS)[number];
  /** Whether it hits the primary of partition 0, or one of the others. */
  readonly hitsPrimary: boolean;
  /** Which of the backups: 0 or 1. */
  readonly backup: number;
  readonly cutKind: CutKind;
  /** How long until it heals. */
  readonly durationMs: number;
}

/** Draws a fault. A directory is only wiped on a backup. */
export function chooseClusterFault(random: SeededRandom): ClusterFault {
  const kind = random.pick(KINDS);
  const isOnPrimary = random.fraction() < 0.5;
  return {
    kind,
    hitsPrimary: kind !== "wipe" && isOnPrimary,
    backup: random.below(NODES.length - 1),
    cutKind: random.fraction() < 0.5 ? "closed" : "silent",
    durationMs: FAULT_MIN_MS + random.below(FAULT_MAX_MS - FAULT_MIN_MS),
  };
}

/**
 * Lets a fault happen and ends it: every node runs and every link works again. Answers what happened.
 *
 * @param place.primary  primary of partition 0
 * @throws Violation server
 */
export async function strike(
  nodes: ClusterNodes,
  fault: ClusterFault,
  place: { readonly primary: number; readonly round: number },
): Promise<string> {
  const { kind, durationMs } = fault;
  const [hit, others] = targetOf(fault, place.primary);
  if (kind === "kill-all") {
    await Promise.all(NODES.map((at) => nodes.kill(at)));
    await nodes.startAll();
    return "all killed and started";
  }
  if (kind === "kill" || kind === "wipe") {
    await nodes.kill(hit);
    if (kind === "wipe") nodes.wipe(hit, place.round);
    await sleep(durationMs);
    await nodes.start(hit);
  } else if (kind === "pause") {
    nodes.pause(hit);
    await sleep(durationMs);
    nodes.resume(hit);
  } else {
    const cutOff = kind === "isolate" ? others : others.slice(0, 1);
    for (const other of cutOff) nodes.cut(hit, other, fault.cutKind);
    await sleep(durationMs);
    nodes.heal();
  }
  const how = kind === "cut" || kind === "isolate" ? ` (${fault.cutKind})` : "";
  return `${kind} of ${fault.hitsPrimary ? "the primary" : "a backup"}, node ${hit}${how}, ${durationMs} ms`;
}

/** The node that a fault hits, and the other two. */
function targetOf({ hitsPrimary, backup }: ClusterFault, primary: number): [number, number[]] {
  const backups = NODES.filter((at) => at !== primary);
  const hit = hitsPrimary ? primary : (backups[backup] as number);
  return [hit, NODES.filter((at) => at !== hit)];
}
