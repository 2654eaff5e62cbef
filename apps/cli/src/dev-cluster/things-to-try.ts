import type { World } from "../world.ts";
import type { ClusterFolder } from "./folder.ts";
import { type DevNode, HOST } from "./plan.ts";

/** What there is to try with. */
export interface ThingsAtHand {
  readonly nodes: readonly DevNode[];
  readonly folder: Pick<ClusterFolder, "path" | "isKept">;
  /** Name of the node that leads. */
  readonly leader: string | undefined;
  readonly pidOf: (node: DevNode) => number | undefined;
  readonly environment: World["environment"];
}

/** Lines that say what to do with a cluster that runs, as they can be typed. */
export function thingsToTry({ nodes, folder, leader, pidOf, environment }: ThingsAtHand): string[] {
  const other = nodes.find(({ name }) => name !== leader) ?? nodes[0];
  const led = nodes.find(({ name }) => name === leader) ?? nodes[0];
  if (other === undefined || led === undefined) return [];
  const millrace = environment["npm_lifecycle_event"] === "npx" ? "npx millrace" : "millrace";
  return [
    `Configuration and logs are below ${folder.path}. Ctrl-C stops all nodes${folder.isKept ? "" : " and removes it"}.`,
    "Try in a second shell (with your root user, if you named one):",
    "  export MILLRACE_USERNAME=iggy MILLRACE_PASSWORD=iggy",
    `  export MILLRACE_TCP_SERVER_ADDRESS=${HOST}:${other.ports.tcp}   # any node will do`,
    `  ${millrace} stream create shop`,
    `  ${millrace} topic create shop orders 1 none`,
    `  ${millrace} message send shop orders "first"`,
    `  kill -9 ${pidOf(led) ?? "PID"}   # ${led.name}, which leads`,
    `  ${millrace} message send shop orders "second"`,
    `  ${millrace} message poll shop orders 0 --first -m 10`,
  ];
}
