import type { Log, LogFacts } from "@millrace/platform";
import { type Logger, pino } from "pino";

/** A `Log` over pino. Lines go to standard error, so that standard output stays free for the banner. */
export function createPinoLog(options: { readonly level: string; readonly pretty: boolean }): Log {
  const destination = options.pretty ? readableStderr() : pino.destination({ dest: 2, sync: true });
  return wrap(pino({ level: options.level, base: null }, destination));
}

function wrap(logger: Logger): Log {
  const line = (level: "debug" | "info" | "warn" | "error") => (message: string, facts?: LogFacts) =>
    logger[level](printable(facts), message);
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (facts) => wrap(logger.child(printable(facts))),
  };
}

/**
 * Facts as JSON can carry them: bigints exact as text, errors with their name, message and what caused them.
 */
export function printable(facts: LogFacts = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, printableValue(value)]));
}

function printableValue(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (!(value instanceof Error)) return value;
  const cause = value.cause instanceof Error ? `, caused by ${String(printableValue(value.cause))}` : "";
  return `${value.name}: ${value.message}${cause}`;
}

const LEVEL_NAMES: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

/** One short line per entry, for a person at a terminal. */
function readableStderr(): { write(line: string): void } {
  return {
    write(line) {
      const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
      const clock = new Date(Number(time)).toISOString().slice(11, 23);
      const rest = Object.entries(facts).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
      const name = LEVEL_NAMES[Number(level)] ?? String(level);
      process.stderr.write(`${clock} ${name.padEnd(5)} ${String(msg)}${rest.join("")}\n`);
    },
  };
}
