import * as z from "zod";
import { count, durationMs, flag, optionalText, table, text } from "./fields.ts";

/** A port one can connect to; left out where a node does not offer the transport. */
const port = () =>
  z
    .union([z.number(), z.string().regex(/^\d+$/, "is not a port").transform(Number)])
    .pipe(z.number().int().min(1, "is no port to connect to").max(65_535))
    .optional();

/** One node of the roster. What belongs together is checked in `check-cluster.ts`. */
const node = z.object({
  name: z.string(),
  /** A literal address, where the other nodes reach this one. */
  ip: z.string(),
  replica_id: z
    .union([z.number(), z.string().regex(/^\d+$/, "is not a whole number").transform(Number)])
    .pipe(z.number().int().min(0).max(255)),
  ports: z.object({
    tcp: port(),
    quic: port(),
    http: port(),
    websocket: port(),
    tcp_replica: port(),
  }),
  /** Where clients reach this node; its `ip` unless told. */
  advertised_address: optionalText(),
  /** Other addresses for clients of some networks; the longest match wins. */
  advertised_addresses: z.array(z.object({ client_cidr: z.string(), address: z.string() })).prefault([]),
});

/**
 * The table `[cluster]`. The heartbeat is ours, the reference waits 5 s.
 * @see server-semantics section 19
 */
export const clusterSchema = table({
  enabled: flag(false),
  name: text("iggy-cluster"),
  heartbeat_timeout: durationMs("2 s", { min: 2000 }),
  commit_broadcast_interval: durationMs("500 ms", { min: 1 }),
  prepare_retransmit_interval: durationMs("250 ms", { min: 1 }),
  view_change_retransmit_interval: durationMs("500 ms", { min: 1 }),
  view_change_status_timeout: durationMs("5 s", { min: 1 }),
  request_start_view_retransmit_interval: durationMs("1 s", { min: 1 }),
  view_probe_attempts_max: count(5, { min: 1, max: 100 }),
  repair_retry_interval: durationMs("1 s", { min: 1 }),
  repair_gap_debounce_interval: durationMs("1 s", { min: 1 }),
  repair_chunk_max: count(128, { min: 1, max: 1024 }),
  superblock_wedged_fatal_timeout: durationMs("2 m"),
  auth: table({ enabled: flag(false), shared_secret: text(""), previous_shared_secret: text("") }),
  tls: table({
    enabled: flag(false),
    self_signed: flag(false),
    cert_file: text(""),
    key_file: text(""),
    ca_file: text(""),
  }),
  coordinator: table({
    skip_shard_zero_for_replicas: flag(true),
    skip_shard_zero_for_clients: flag(false),
  }),
  nodes: z.array(node).prefault([]),
});

/** One parsed node of the roster. */
export type ClusterNode = z.output<typeof node>;
