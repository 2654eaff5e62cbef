/** What the actors of a scenario do, and where. */
export interface Scenario {
  readonly summary: string;
  /** Pinned actors have a partition each; balanced ones share those of a topic. */
  readonly placement: "pinned" | "balanced";
  readonly sends: boolean;
  readonly reads: boolean;
  /** Each actor sends and reads, and what counts is the way from one to the other. */
  readonly isEndToEnd: boolean;
}

/** The scenarios of the reference's tool, under its names. */
export const SCENARIOS = {
  "pinned-producer": { summary: "each producer sends to a partition of its own", placement: "pinned", sends: true, reads: false, isEndToEnd: false },
  "pinned-consumer": { summary: "each consumer polls a partition of its own, filled beforehand", placement: "pinned", sends: false, reads: true, isEndToEnd: false },
  "pinned-producer-and-consumer": { summary: "both at once, on the same partitions", placement: "pinned", sends: true, reads: true, isEndToEnd: false },
  "balanced-producer": { summary: "producers let the server spread their batches over the partitions", placement: "balanced", sends: true, reads: false, isEndToEnd: false },
  "balanced-consumer-group": { summary: "the members of groups share the partitions, filled beforehand", placement: "balanced", sends: false, reads: true, isEndToEnd: false },
  "balanced-producer-and-consumer-group": { summary: "both at once, on the same topics", placement: "balanced", sends: true, reads: true, isEndToEnd: false },
  "end-to-end-producing-consumer": { summary: "each actor sends a batch and polls it back", placement: "pinned", sends: true, reads: true, isEndToEnd: true },
  "end-to-end-producing-consumer-group": { summary: "each actor sends batches and is a member of a group that reads them", placement: "balanced", sends: true, reads: true, isEndToEnd: true },
} as const satisfies Record<string, Scenario>;

/** Name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS;

/** The names in the order of the help. */
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as readonly ScenarioName[];
