import type { SimClient } from "./client/sim-client.ts";
import type { Chance } from "./engine/chance.ts";
import type { EventQueue } from "./engine/event-queue.ts";
import type { Ambush } from "./faults/ambush.ts";
import type { SimNetwork } from "./network/sim-network.ts";
import type { SimNode } from "./node/sim-node.ts";
import type { GroupOracle } from "./oracle/group-oracle.ts";
import type { RunCounts } from "./run-counts.ts";
import type { SeedPlan } from "./seed-plan.ts";

/** Everything of one run; what its parts find each other by. */
export interface World {
  readonly plan: SeedPlan;
  readonly queue: EventQueue;
  readonly chance: Chance;
  readonly network: SimNetwork;
  readonly counts: RunCounts;
  readonly ambush: Ambush;
  /** By group. */
  readonly oracles: GroupOracle[];
  /** By replica; each holds a replica of every group. */
  readonly nodes: SimNode[];
  readonly clients: SimClient[];
  /** Takes a line of the trace; undefined when nobody wants one. */
  readonly note: ((line: string) => void) | undefined;
}

/** Address of a client in the network: behind the nodes. */
export function addressOf(world: World, client: SimClient): number {
  return world.plan.replicaCount + client.index;
}
