import type { Tracer } from "@millrace/platform";
import type { Config } from "../config/schema.ts";
import type { LogSink } from "../log/log-sinks.ts";
import { VERSION } from "../version.ts";
import { loadExporters, loadSdk, type Sdk } from "./load-sdk.ts";
import { logRecordSink } from "./log-record-sink.ts";
import { spanTracer } from "./span-tracer.ts";

/** Where requests and log lines go beside the log. */
export interface Telemetry {
  readonly tracer: Tracer;
  /** Sends each log line; closing it sends what waits, of spans too. */
  readonly sink: LogSink;
}

/** A collector that does not answer costs a stop no more. */
const CLOSE_MAX_MS = 2000;

/**
 * Sends a span per request and every log line to a collector.
 *
 * Both wait in bounded queues of the SDK and are dropped when those are full: a collector that is slow or
 * gone costs facts about the server, not the server.
 *
 * @param onTrouble  called for whatever could not be sent
 * @throws CodedError FeatureUnavailable when the packages are not installed; names the command that does it
 */
export async function startTelemetry(
  telemetry: Config["telemetry"],
  onTrouble: (error: Error) => void,
): Promise<Telemetry> {
  const sdk = await loadSdk();
  const { traces, logs } = telemetry;
  const exporters = loadExporters({ traces: traces.transport, logs: logs.transport });
  tellTroubles(sdk, onTrouble);
  const resource = sdk.resources.resourceFromAttributes({
    "service.name": telemetry.service_name,
    "service.version": VERSION,
  });
  const spans = new sdk.tracing.BasicTracerProvider({
    resource,
    spanProcessors: [new sdk.tracing.BatchSpanProcessor(new exporters.traces({ url: traces.endpoint }))],
  });
  const exporter = new exporters.logs({ url: logs.endpoint });
  const records = new sdk.logs.LoggerProvider({
    resource,
    processors: [new sdk.logs.BatchLogRecordProcessor({ exporter })],
  });
  const write = logRecordSink(records.getLogger("millrace-server", VERSION));
  const close = () => withinTime([spans.shutdown(), records.shutdown()]).catch(onTrouble);
  return { tracer: spanTracer(sdk, spans.getTracer("millrace-server", VERSION)), sink: { write, close } };
}

/** The SDK tells what it could not send to a logger of its own. */
function tellTroubles({ api }: Sdk, onTrouble: (error: Error) => void): void {
  const tell = (message: string) => onTrouble(new Error(message));
  const ignore = () => {};
  const logger = { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
  api.diag.setLogger(logger, { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true });
}

async function withinTime(work: readonly Promise<void>[]): Promise<void> {
  const cutOff = new Promise<never>((_, reject) => {
    const text = `the collector did not take the last of it within ${CLOSE_MAX_MS} ms`;
    setTimeout(() => reject(new Error(text)), CLOSE_MAX_MS).unref();
  });
  await Promise.race([Promise.all(work), cutOff]);
}
