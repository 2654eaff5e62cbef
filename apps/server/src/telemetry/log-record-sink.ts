import type { Sdk } from "./load-sdk.ts";

type Logger = ReturnType<InstanceType<Sdk["logs"]["LoggerProvider"]>["getLogger"]>;
type Attributes = Record<string, string | number | boolean>;

/** pino's levels are 10 apart, OpenTelemetry's severities 4: trace 1, debug 5, info 9, warn 13, error 17. */
const SEVERITY_NAMES = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"] as const;

/** Turns lines of the log into records of OpenTelemetry: the message as body, facts as attributes. */
export function logRecordSink(logger: Logger): (line: string) => void {
  return (line) => {
    const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
    const step = Math.min(SEVERITY_NAMES.length - 1, Math.max(0, Math.round(Number(level) / 10) - 1));
    logger.emit({
      timestamp: Number(time),
      severityNumber: 1 + 4 * step,
      severityText: SEVERITY_NAMES[step] ?? "INFO",
      body: String(msg),
      attributes: attributesOf(facts),
    });
  };
}

function attributesOf(facts: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, isPlain(value) ? value : JSON.stringify(value)]),
  );
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
