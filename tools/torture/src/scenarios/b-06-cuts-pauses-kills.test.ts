import { scenarioSize } from "@millrace/testkit";
import type { ClusterFault } from "../cluster/cluster-fault.ts";
import { clusterScenario } from "./cluster-scene.ts";

const TURNS = scenarioSize({ push: 1, whole: 10 });
const FAULT_MS = scenarioSize({ push: 800, whole: 3000 });

const KINDS = ["isolate", "pause", "kill"] as const satisfies readonly ClusterFault["kind"][];

clusterScenario(
  "B-06: cuts, pauses and kills while streams are made and messages sent: all nodes agree byte for byte.",
  async (cluster) => {
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const [index, kind] of KINDS.entries()) {
        const place = { hitsPrimary: (turn + index) % 2 === 0, backup: turn % 2 };
        const fault = { kind, ...place, cutKind: turn % 2 === 0 ? "silent" : "closed" } as const;
        await cluster.round(turn * KINDS.length + index + 1, { ...fault, durationMs: FAULT_MS });
      }
    }
  },
);
