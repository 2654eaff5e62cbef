import { createRequire } from "node:module";
import { CodedError, ErrorCode } from "@millrace/errors";

/** The parts of OpenTelemetry's SDK that are used here. */
export type Sdk = typeof import("@opentelemetry/sdk-node");

/** Makes exporters: the SDK brings them along without offering them at its own front door. */
export interface Exporters {
  readonly traces: new (options: {
    url: string;
  }) => ConstructorParameters<Sdk["tracing"]["BatchSpanProcessor"]>[0];
  readonly logs: new (options: { url: string }) => LogExporter;
}

type LogExporter = ConstructorParameters<Sdk["logs"]["BatchLogRecordProcessor"]>[0]["exporter"];

/** What the user types when packages are missing. */
const INSTALL = "npm install @opentelemetry/api@1.9 @opentelemetry/sdk-node@0.223";

/** Names of the exporters' packages by the word of the configuration. */
const PROTOCOLS = { grpc: "grpc", http: "proto" } as const;

/** How a signal travels, as the configuration says it. */
export type TelemetryTransport = keyof typeof PROTOCOLS;

/** Loads OpenTelemetry: an optional package that nobody needs who does not switch it on. */
export async function loadSdk(
  load: () => Promise<Sdk> = () => import("@opentelemetry/sdk-node"),
): Promise<Sdk> {
  try {
    return await load();
  } catch (cause) {
    throw packagesMissing(cause);
  }
}

/**
 * Exporters for a signal's transport.
 *
 * @throws CodedError FeatureUnavailable when the SDK does not bring them along
 */
export function loadExporters(transports: {
  readonly traces: TelemetryTransport;
  readonly logs: TelemetryTransport;
}): Exporters {
  const require = createRequire(import.meta.url);
  try {
    const ofSdk = createRequire(require.resolve("@opentelemetry/sdk-node"));
    const traces = ofSdk(`@opentelemetry/exporter-trace-otlp-${PROTOCOLS[transports.traces]}`);
    const logs = ofSdk(`@opentelemetry/exporter-logs-otlp-${PROTOCOLS[transports.logs]}`);
    return { traces: traces.OTLPTraceExporter, logs: logs.OTLPLogExporter };
  } catch (cause) {
    throw packagesMissing(cause);
  }
}

function packagesMissing(cause: unknown): CodedError {
  const text = `The setting telemetry.enabled = true needs packages beside millrace-server: ${INSTALL}`;
  return new CodedError(ErrorCode.FeatureUnavailable, text, { details: { key: "telemetry.enabled" }, cause });
}
