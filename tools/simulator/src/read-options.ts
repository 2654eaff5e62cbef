import { parseArgs } from "node:util";
import { isMutation, MUTATIONS, type MutationName } from "./mutations.ts";

/** What the command line asks for. */
export interface SimulatorOptions {
  readonly from: number;
  readonly to: number;
  readonly replicas: number | undefined;
  readonly ticks: number | undefined;
  readonly mutation: MutationName | undefined;
  readonly isOutcomeOnly: boolean;
  readonly isTraced: boolean;
  /** Whole brokers instead of replicas alone. */
  readonly isOfBrokers: boolean;
  readonly minutes: number;
  /** Processes that share the seeds. */
  readonly workers: number;
}

/** Seeds of a run that names none. */
const FRESH_COUNT = 40;
const SEED_MAX = 2 ** 32 - 1;
const REPLICAS_MAX = 7;
const TICKS_MAX = 10_000_000;
const WORKERS_MAX = 64;

/**
 * Reads the arguments; undefined when they ask for help.
 * @throws Error that says which argument is wrong, and how it is written
 */
export function readOptions(args: readonly string[]): SimulatorOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string" },
      seed: { type: "string" },
      replicas: { type: "string" },
      ticks: { type: "string" },
      mutation: { type: "string" },
      minutes: { type: "string", default: "Infinity" },
      workers: { type: "string", default: "1" },
      outcomes: { type: "boolean", default: false },
      trace: { type: "boolean", default: false },
      brokers: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes ${values.minutes} is no number above 0`);
  if (values.brokers) refuseForBrokers(values);
  return {
    ...readSeeds(values.seed ?? values.seeds),
    replicas: readNumber("replicas", values.replicas, 1, REPLICAS_MAX),
    ticks: readNumber("ticks", values.ticks, 1, TICKS_MAX),
    mutation: readMutation(values.mutation),
    isOutcomeOnly: values.outcomes,
    isTraced: values.trace,
    isOfBrokers: values.brokers,
    minutes,
    workers: readNumber("workers", values.workers, 1, WORKERS_MAX) ?? 1,
  };
}

/** @throws Error for what shapes a run of replicas only */
function refuseForBrokers(values: Readonly<Record<string, unknown>>): void {
  for (const name of ["replicas", "ticks", "mutation", "outcomes"]) {
    if (values[name] !== undefined && values[name] !== false)
      throw new Error(`--${name} is for replicas alone, not for --brokers`);
  }
}

function readSeeds(text: string | undefined): { readonly from: number; readonly to: number } {
  if (text === undefined) {
    const from = Math.floor(Math.random() * (SEED_MAX - FRESH_COUNT));
    return { from, to: from + FRESH_COUNT - 1 };
  }
  const match = /^(\d+)(?:\.\.(\d+))?$/.exec(text);
  const [from, to] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
  if (match === null || to < from || to > SEED_MAX)
    throw new Error(`${text} is no seed and no range FROM..TO of 0..${SEED_MAX}`);
  return { from, to };
}

function readMutation(text: string | undefined): MutationName | undefined {
  if (text === undefined || isMutation(text)) return text;
  throw new Error(`--mutation ${text} is none of ${MUTATIONS.join(", ")}`);
}

function readNumber(name: string, text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < min || value > max)
    throw new Error(`--${name} ${text} is no number of ${min}..${max}`);
  return value;
}
