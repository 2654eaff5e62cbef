import { type Log, type LogFacts, type Metrics, silentLog } from "@millrace/platform";

/** One line of a log. */
export interface Line {
  readonly level: "info" | "warn" | "error";
  readonly message: string;
  readonly facts: LogFacts;
}

/** A log whose lines can be looked at. */
export function recordedLog(lines: Line[]): Log {
  const at =
    (level: Line["level"]) =>
    (message: string, facts: LogFacts = {}) =>
      void lines.push({ level, message, facts });
  return {
    ...silentLog,
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => recordedLog(lines),
  };
}

/** Metrics whose values can be looked at by name. */
export function recordedMetrics(): { readonly metrics: Metrics; metric(name: string): number } {
  const counts = new Map<string, number>();
  const gauges = new Map<string, () => number>();
  const metrics: Metrics = {
    counter: (name) => ({
      add: (amount) => void counts.set(name, (counts.get(name) ?? 0) + amount),
    }),
    gauge: (name, _help, read) => void gauges.set(name, read),
  };
  return { metrics, metric: (name) => gauges.get(name)?.() ?? counts.get(name) ?? 0 };
}
