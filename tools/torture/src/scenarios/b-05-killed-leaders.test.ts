import assert from "node:assert/strict";
import { scenarioSize } from "@millrace/testkit";
import { clusterScenario } from "./cluster-scene.ts";

const MESSAGES = scenarioSize({ push: 2000, whole: 200_000 });
/** How long a killed leader stays away. */
const AWAY_MS = scenarioSize({ push: 500, whole: 5000 });

clusterScenario(
  "B-05: leaders are killed one after the other while eight writers send: what was acknowledged is on every node.",
  async (cluster) => {
    for (let round = 1; round === 1 || cluster.acknowledgedCount < MESSAGES; round += 1) {
      const fault = { kind: "kill", hitsPrimary: true, backup: 0, cutKind: "closed" } as const;
      await cluster.round(round, { ...fault, durationMs: AWAY_MS });
    }
    assert.ok(cluster.acknowledgedCount >= MESSAGES);
  },
);
