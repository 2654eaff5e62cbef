import type { LogSink } from "./log-sinks.ts";

const LEVEL_NAMES: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

/**
 * Lines on standard error, so that standard output stays free for the banner: JSON for programs, one short
 * line per entry for a person at a terminal.
 */
export function consoleSink(options: { readonly pretty: boolean }): LogSink {
  // Whoever closes our standard error loses lines, not the server.
  process.stderr.on("error", () => {});
  return { write: (line) => void process.stderr.write(options.pretty ? readable(line) : line) };
}

/** A line of the log as a person reads it. */
export function readable(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const clock = new Date(Number(time)).toISOString().slice(11, 23);
  const rest = Object.entries(facts).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  const name = LEVEL_NAMES[Number(level)] ?? String(level);
  return `${clock} ${name.padEnd(5)} ${String(msg)}${rest.join("")}\n`;
}
