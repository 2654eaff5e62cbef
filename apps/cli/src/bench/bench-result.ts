import { sizeText } from "../formats/size.ts";
import type { JsonValue } from "../output/json-writer.ts";
import { type Field, properties, type Result, rows } from "../output/result.ts";
import type { Meter, MeterKind, Role } from "./meter.ts";
import type { BenchRun } from "./run-bench.ts";

/** What each kind of figure says, for people. */
export const KIND_TEXTS: Readonly<Record<MeterKind, string>> = {
  send: "send: due to confirmed",
  poll: "poll: asked to received, of polls that brought messages",
  block: "block: a batch worth of messages out of the group's loop",
  "end-to-end": "end to end: due to received",
};

/** One line of figures. */
interface Line {
  readonly role: Role;
  readonly meter: Meter;
}

const NANOS_PER_MS = 1e6;
const BYTES_PER_MEGABYTE = 1e6;

/** The quantiles that are shown, by their names in JSON. */
const QUANTILES = { p50: 0.5, p95: 0.95, p99: 0.99, p999: 0.999 } as const;

function latency(name: string, nanosOf: (meter: Meter) => number): Field<Line> {
  const value = ({ meter }: Line) => nanosOf(meter) / NANOS_PER_MS;
  return {
    name: `${name}_ms`,
    title: `${name} ms`,
    value,
    text: (line) => (line.meter.latency.count === 0 ? "-" : value(line).toFixed(3)),
  };
}

/** Payload bytes a second, in units of 1,000,000. */
export function megabytesPerSecond({ bytes, seconds }: Meter): number {
  return seconds === 0 ? 0 : bytes / BYTES_PER_MEGABYTE / seconds;
}

function messagesPerSecond({ messages, seconds }: Meter): number {
  return seconds === 0 ? 0 : messages / seconds;
}

const LINE_FIELDS: readonly Field<Line>[] = [
  { name: "what", title: "What", value: ({ role }) => role.kind },
  { name: "actor", title: "Actor", value: ({ meter }) => meter.name },
  { name: "messages", title: "Messages", value: ({ meter }) => meter.messages },
  {
    name: "bytes",
    title: "Bytes",
    value: ({ meter }) => meter.bytes,
    text: ({ meter }) => sizeText(meter.bytes),
  },
  {
    name: "seconds",
    title: "Seconds",
    value: ({ meter }) => meter.seconds,
    text: ({ meter }) => meter.seconds.toFixed(2),
  },
  {
    name: "megabytes_per_second",
    title: "MB/s",
    value: ({ meter }) => megabytesPerSecond(meter),
    text: ({ meter }) => megabytesPerSecond(meter).toFixed(1),
  },
  {
    name: "messages_per_second",
    title: "Messages/s",
    value: ({ meter }) => messagesPerSecond(meter),
    text: ({ meter }) => messagesPerSecond(meter).toFixed(0),
  },
  { name: "latencies", title: "Latencies", value: ({ meter }) => meter.latency.count },
  latency("avg", ({ latency: { average } }) => average),
  ...Object.entries(QUANTILES).map(([name, part]) => latency(name, (meter) => meter.latency.quantile(part))),
  latency("max", ({ latency: { max } }) => max),
];

function setting(name: string, title: string, value: (run: BenchRun) => JsonValue): Field<BenchRun> {
  return { name, title, value };
}

/** A setting that may have been left out; JSON says null then. */
function orText(
  name: string,
  title: string,
  value: (run: BenchRun) => string | number | undefined,
  text: string,
): Field<BenchRun> {
  return { name, title, value: (run) => value(run) ?? null, text: (run) => String(value(run) ?? text) };
}

const RUN_FIELDS: readonly Field<BenchRun>[] = [
  setting("scenario", "Scenario", ({ plan }) => plan.scenario),
  setting("server_address", "Server", ({ target }) => target.address),
  setting("transport", "Transport", ({ target }) => target.transport),
  setting("server_version", "Server Version", ({ serverVersion }) => serverVersion),
  setting("message_size", "Message Size", ({ plan }) => plan.messageSize),
  setting("messages_per_batch", "Messages per Batch", ({ plan }) => plan.messagesPerBatch),
  setting("batches", "Batches", ({ plan }) => plan.batches),
  setting("warm_up", "Warm-up Batches", ({ plan }) => plan.warmUp),
  setting("streams", "Streams", ({ plan }) => plan.streams),
  setting("topics", "Topics per Stream", ({ plan }) => plan.topics),
  setting("partitions", "Partitions per Topic", ({ plan }) => plan.partitions),
  setting("in_flight", "In Flight", ({ plan }) => plan.inFlight),
  orText("rate_limit", "Rate Limit, bytes/s", ({ plan }) => plan.rateLimit, "none"),
  orText("durability", "Durability", ({ plan }) => plan.durability, "the server's default"),
];

const COST_FIELDS: readonly Field<BenchRun>[] = [
  percent("client_cpu_percent", "Client CPU", ({ client }) => client.cpuPercent),
  setting("client_cpu_seconds", "Client CPU Seconds", ({ client }) => client.cpuSeconds),
  percent("server_cpu_percent", "Server CPU", ({ server }) => server?.cpuPercent),
  setting("server_cpu_seconds", "Server CPU Seconds", ({ server }) => server?.cpuSeconds ?? null),
  memory("server_resident", "Server Memory", ({ server }) => server?.residentAtEnd),
  memory("server_resident_highest", "Server Memory, Highest", ({ server }) => server?.residentHighest),
  setting("repeated_messages", "Repeated Messages", ({ repeated }) => repeated),
];

const NOT_HERE = "unknown: the server's process is not visible here";

function percent(name: string, title: string, of: (run: BenchRun) => number | undefined): Field<BenchRun> {
  const text = (value: number | undefined) =>
    value === undefined ? NOT_HERE : `${value.toFixed(1)} % of a core`;
  return { name, title, value: (run) => of(run) ?? null, text: (run) => text(of(run)) };
}

function memory(name: string, title: string, of: (run: BenchRun) => number | undefined): Field<BenchRun> {
  const text = (bytes: number | undefined) => (bytes === undefined ? NOT_HERE : sizeText(bytes));
  return { name, title, value: (run) => of(run) ?? null, text: (run) => text(of(run)) };
}

/** A run as commands answer: what was asked, the totals, every actor, and what it cost. */
export function benchResult(run: BenchRun): Result {
  return properties([...RUN_FIELDS, ...COST_FIELDS], run, { totals: totalsOf(run), actors: actorsOf(run) });
}

/** One line a role, of all its actors together. */
function totalsOf({ roles }: BenchRun): Result {
  return rows(
    LINE_FIELDS,
    roles.map((role) => ({ role, meter: role.total() })),
    "Nothing was measured.",
  );
}

function actorsOf({ roles }: BenchRun): Result {
  const lines = roles.flatMap((role) => role.actors.map((meter) => ({ role, meter })));
  return rows(LINE_FIELDS, lines, "Nothing was measured.");
}
