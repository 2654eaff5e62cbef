import type { Log, LogFacts } from "@millrace/platform";
import { type Logger, pino } from "pino";
import type { LogSink } from "./log-sinks.ts";

/** A `Log` over pino whose lines go to a sink. */
export function createPinoLog(options: { readonly level: string; readonly sink: LogSink }): Log {
  return wrap(pino({ level: options.level, base: null }, options.sink));
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
