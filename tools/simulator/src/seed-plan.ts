import { CLUSTER_TIMING, type ClusterTiming } from "@millrace/vsr";
import type { Durability } from "./disk/crash-kind.ts";
import type { DevicePlan } from "./disk/device.ts";
import { Chance } from "./engine/chance.ts";
import { FAULT_KINDS, type FaultKind } from "./faults/fault-kinds.ts";
import type { MutationName } from "./mutations.ts";
import type { NetworkPlan } from "./network/sim-network.ts";

/** A tick of a replica's clock. */
export const TICK_MICROS = 10_000;

/** What the command line may fix; the rest comes from the seed. */
export interface PlanOptions {
  readonly replicas?: number | undefined;
  readonly ticks?: number | undefined;
  readonly mutation?: MutationName | undefined;
  /** Looks at what clients and logs show only, not at the rules by which a replica comes to it. */
  readonly isOutcomeOnly?: boolean | undefined;
}

/** Everything about a run that is decided before it begins. */
export interface SeedPlan {
  readonly seed: number;
  readonly ticks: number;
  readonly replicaCount: number;
  readonly groups: readonly GroupPlan[];
  readonly durability: Durability;
  readonly network: NetworkPlan;
  readonly device: DevicePlan;
  readonly timing: ClusterTiming;
  /** How long a state machine takes to apply an op; 0 for at once. */
  readonly applyMeanMicros: number;
  /** How long written data waits for its sync under `replicated`. */
  readonly syncDelayMicros: number;
  /** Clocks run faster or slower by up to this part. */
  readonly driftMax: number;
  /** Ops between two checkpoints, and ops that stay in the journal behind one. */
  readonly checkpointOps: number;
  readonly keptOps: number;
  /** Mean time between two faults, and how long one lasts. */
  readonly faultGapMicros: number;
  readonly faultMeanMicros: number;
  readonly faultWeights: Readonly<Record<FaultKind, number>>;
  /** Of 1000 ticks: those in which a host would rather have its replica lead. */
  readonly leadPermille: number;
  readonly mutation: MutationName | undefined;
  readonly isOutcomeOnly: boolean;
}

/** One group of a run. */
export interface GroupPlan {
  /** Also the view it begins in, so that groups have different primaries. */
  readonly group: number;
  readonly depth: number;
  /** Keeps sessions, as the metadata group does. */
  readonly hasClientTable: boolean;
  readonly clients: number;
  /** Requests of one client on their way at once; 1 with sessions. */
  readonly window: number;
  /** Mean pause of a client between an answer and its next request. */
  readonly thinkMeanMicros: number;
}

const DEFAULT_TICKS = 10_000;
/** Part of its weight that a wiped directory keeps: it takes long to make up for. */
const RARE = 0.2;
const MS = 1000;

/** Draws a run from its seed. Small and large values are both likely: each run is strange in its own way. */
export function planOf(seed: number, options: PlanOptions = {}): SeedPlan {
  const chance = new Chance(seed);
  const replicaCount = options.replicas ?? chance.pick([3, 3, 3, 3, 3, 2, 4, 5, 5, 6, 7, 1]);
  const groupCount = chance.pick([1, 1, 2, 3]);
  const durability = chance.pick(["replicated", "persisted"] as const);
  return {
    seed,
    ticks: options.ticks ?? DEFAULT_TICKS,
    replicaCount,
    groups: Array.from({ length: groupCount }, (_, group) => groupPlanOf(chance, group)),
    durability,
    network: networkPlanOf(chance),
    device: {
      writeMeanMicros: chance.pick([50, 300, 2000, 10_000]),
      syncMeanMicros: chance.pick([500, 3000, 20_000]),
    },
    timing: timingOf(chance.pick([1, 1, 2, 4])),
    applyMeanMicros: chance.pick([0, 0, 500, 20_000]),
    syncDelayMicros: chance.pick([20, 200, 2000]) * MS,
    driftMax: chance.pick([0, 0.01, 0.1, 0.3]),
    checkpointOps: chance.pick([15, 40, 100, 1000]),
    keptOps: chance.pick([0, 5, 50]),
    faultGapMicros: chance.pick([500, 1000, 2000, 3000]) * MS,
    faultMeanMicros: chance.pick([300, 1000, 3000]) * MS,
    faultWeights: faultWeightsOf(chance),
    leadPermille: chance.pick([0, 0, 1, 10]),
    mutation: options.mutation,
    isOutcomeOnly: options.isOutcomeOnly ?? false,
  };
}

/** The defaults, or the same so many times quicker, for more view changes in a run. */
function timingOf(quickness: number): ClusterTiming {
  const { viewProbeAttemptsMax, repairChunkMax, ...ticks } = CLUSTER_TIMING;
  const quick = Object.entries(ticks).map(([name, count]) => [name, Math.floor(count / quickness)] as const);
  const timing = Object.fromEntries(quick) as Omit<ClusterTiming, "viewProbeAttemptsMax" | "repairChunkMax">;
  return { ...timing, viewProbeAttemptsMax, repairChunkMax };
}

function groupPlanOf(chance: Chance, group: number): GroupPlan {
  const hasClientTable = chance.chance(0.5);
  return {
    group,
    depth: chance.pick([1, 2, 4, 8, 32, 127]),
    hasClientTable,
    clients: chance.between(1, 8),
    window: hasClientTable ? 1 : chance.pick([1, 2, 4]),
    thinkMeanMicros: chance.pick([50, 200, 500, 1000]) * MS,
  };
}

function networkPlanOf(chance: Chance): NetworkPlan {
  const isOrdered = chance.chance(0.3);
  return {
    delayMinMicros: chance.pick([50, 500, 3000]),
    delayMeanMicros: chance.pick([50, 1000, 8000, 30_000]),
    loss: chance.pick([0, 0, 0.01, 0.05, 0.2]),
    repeat: chance.pick([0, 0.01, 0.1]),
    late: isOrdered ? 0 : chance.pick([0, 0.002, 0.02]),
    lateMaxMicros: chance.pick([200, 2000, 20_000]) * MS,
    isOrdered,
  };
}

/** Some kinds are left out of a run, others are common in it. */
function faultWeightsOf(chance: Chance): Record<FaultKind, number> {
  const weights = FAULT_KINDS.map((kind) => [kind, chance.pick([0, 1, 1, 4])] as const);
  const drawn = Object.fromEntries(weights) as Record<FaultKind, number>;
  return { ...drawn, wipe: drawn.wipe * RARE, kill: chance.pick([1, 4]) };
}

/** A plan in one line, for the head of a trace. */
export function planLine(plan: SeedPlan): string {
  const groups = plan.groups.map(
    ({ depth, hasClientTable, clients, window }) =>
      `${hasClientTable ? "sessions" : "plain"}/depth=${depth}/clients=${clients}x${window}`,
  );
  const faults = FAULT_KINDS.map((kind) => `${kind}=${plan.faultWeights[kind]}`);
  return `replicas=${plan.replicaCount} ${plan.durability} groups=[${groups.join(" ")}] ${faults.join(" ")}`;
}
