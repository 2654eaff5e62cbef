import {
  CONSUMER_OFFSETS_DEFAULT,
  CONSUMER_OFFSETS_MAX,
  SESSIONS_DEFAULT,
  SESSIONS_MAX,
  TOKENS_PER_USER_MAX,
} from "@millrace/protocol";
import * as z from "zod";
import { clusterSchema } from "./cluster-schema.ts";
import * as defaults from "./defaults.ts";
import {
  byteSize,
  count,
  durationMs,
  flag,
  laterKey,
  optionalText,
  table,
  text,
  textOrNumber,
  texts,
} from "./fields.ts";

const MIB = 1024 * 1024;
const U32 = { max: 0xffff_ffff };

const tls = (selfSigned = true) =>
  table({ enabled: flag(false), self_signed: flag(selfSigned), cert_file: text(""), key_file: text("") });

const tcp = table({
  enabled: flag(true),
  address: text(defaults.TCP_ADDRESS),
  /** Ours: open client connections, beyond which a new one is closed at once. */
  connections_max: count(defaults.CONNECTIONS_MAX, { min: 1, max: 1_000_000 }),
  tls: tls(),
});

const quic = table({
  enabled: flag(false),
  address: text(defaults.QUIC_ADDRESS),
  max_concurrent_bidi_streams: count(1),
  initial_mtu: byteSize("1200 B", { min: 1200 }),
  send_window: byteSize("64 MiB"),
  receive_window: byteSize("64 MiB"),
  stream_receive_window: byteSize("64 MiB"),
  keep_alive_interval: durationMs("10 s"),
  max_idle_timeout: durationMs("30 s"),
  certificate: table({ self_signed: flag(true), cert_file: text(""), key_file: text("") }),
});

const http = table({
  enabled: flag(true),
  address: text(defaults.HTTP_ADDRESS),
  max_request_size: byteSize("2 MB", { min: 1, max: 64 * MIB }),
  web_ui: flag(false),
  cors: table({
    enabled: flag(true),
    allowed_methods: texts(["GET", "POST", "PUT", "DELETE"]),
    allowed_origins: texts(["*"]),
    allowed_headers: texts(["content-type", "authorization"]),
    exposed_headers: texts(["iggy-view"]),
    allow_credentials: flag(false),
    allow_private_network: flag(false),
  }),
  jwt: table({
    algorithm: z.enum(["HS256", "HS384", "HS512"]).prefault("HS256"),
    issuer: text("iggy.apache.org"),
    audience: text("iggy.apache.org"),
    valid_issuers: texts(["iggy.apache.org"]),
    valid_audiences: texts(["iggy.apache.org"]),
    access_token_expiry: durationMs("1 h", { min: 1000 }),
    clock_skew: durationMs("5 s"),
    not_before: durationMs("0 s"),
    encoding_secret: text(""),
    decoding_secret: text(""),
    use_base64_secret: flag(false),
    trusted_issuers: z
      .array(
        z.object({ issuer: z.string(), audience: z.string(), jwks_url: z.url(), user_id: count(0, U32) }),
      )
      .prefault([]),
  }),
  metrics: table({ enabled: flag(true), endpoint: text("/metrics") }),
  /** The reference takes files only here, so a certificate of our own making has to be asked for. */
  tls: tls(false),
});

const websocket = table({
  enabled: flag(true),
  address: text(defaults.WEBSOCKET_ADDRESS),
  /** Ours: open connections, beyond which a new one is closed at once. */
  connections_max: count(defaults.CONNECTIONS_MAX, { min: 1, max: 1_000_000 }),
  accept_unmasked_frames: flag(false),
  read_buffer_size: byteSize("128 KiB", { min: 1 }),
  write_buffer_size: byteSize("128 KiB", { min: 1 }),
  max_write_buffer_size: byteSize("none"),
  max_message_size: byteSize(defaults.MESSAGE_SIZE, { min: 1 }),
  max_frame_size: byteSize("16 MiB", { min: 1 }),
  tls: tls(),
});

/** Ours: the reference has no gRPC. */
const grpc = table({
  enabled: flag(false),
  address: text(defaults.GRPC_ADDRESS),
  /** Open calls of Exchange, beyond which a new one is refused. */
  connections_max: count(defaults.CONNECTIONS_MAX, { min: 1, max: 1_000_000 }),
  tls: tls(),
});

const partition = table({
  validate_checksum: flag(true),
  prepare_queue_depth: count(defaults.PARTITION_QUEUE_DEPTH, { min: 1, max: 4096 }),
  wal_bytes_max: byteSize("256 MiB"),
  dedup_clients_max: count(4096, { max: 65_536 }),
  consumer_offsets_max: count(CONSUMER_OFFSETS_DEFAULT, { min: 1, max: CONSUMER_OFFSETS_MAX }),
  offset_reservation_lease: count(65_536),
  evicted_ring_capacity: count(4096, { max: 65_536 }),
  evicted_ring_bytes_max: byteSize("16 MiB", { max: 256 * MIB }),
  transfer_served_cache_bytes_max: byteSize("2176 MiB"),
  transfer_artifact_bytes_max: byteSize("1088 MiB"),
  wal_group_commit_delay_micros: laterKey(),
});

const sharding = table({
  cpu_allocation: textOrNumber("1"),
  pin_cores: flag(true),
  inbox_capacity: count(1024, { min: 1 }),
  reply_inbox_capacity: count(1024, { min: 1 }),
  /** Ours: how long a request waits for room before it is answered with 58. */
  admission_timeout: durationMs("2 s", { min: 1 }),
  shutdown_drain_timeout: durationMs("10 s"),
  shutdown_poll_interval: durationMs("50 ms"),
  shutdown_join_timeout: durationMs("30 s"),
  reconcile_periodic_interval: durationMs("1 s"),
  poll_completion_capacity: laterKey(),
  partition_io_capacity: laterKey(),
});

const messageBus = table({
  max_batch: count(256, { min: 1, max: 512 }),
  max_message_size: byteSize(defaults.MESSAGE_SIZE, { min: 4096, max: 256 * MIB }),
  peer_queue_capacity: count(4096, { min: 1 }),
  reconnect_period: durationMs("1 s"),
  close_peer_timeout: durationMs("2 s"),
  close_grace: durationMs("2 s"),
  handshake_grace: durationMs("10 s"),
  replica_read_buffer_size: laterKey(),
  client_queue_capacity: laterKey(),
  connections_max: laterKey(),
});

const logging = table({
  path: text("logs"),
  level: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).prefault("info"),
  file_enabled: flag(true),
  max_file_size: byteSize("500 MB"),
  max_total_size: byteSize("4 GB"),
  rotation_check_interval: durationMs("1 h"),
  retention: durationMs("7 days"),
  sysinfo_print_interval: laterKey(),
});

const signal = (endpoint: string) =>
  table({ transport: z.enum(["grpc", "http"]).prefault("grpc"), endpoint: text(endpoint) });

/**
 * The whole configuration: every key, its default, its bounds. Keys are named as in the file; durations are
 * milliseconds and sizes bytes once parsed.
 *
 * What changes nothing here is read and kept all the same; `without-effect.table.ts` says why.
 * @see server-semantics section 15
 */
export const configSchema = z.object({
  path: text(defaults.DATA_PATH),
  runtime: table({ path: text(defaults.RUNTIME_PATH) }),
  node: table({ advertised_address: optionalText() }),
  tcp,
  quic,
  http,
  websocket,
  grpc,
  personal_access_token: table({
    max_tokens_per_user: count(TOKENS_PER_USER_MAX),
    cleaner: table({ enabled: flag(true), interval: durationMs("1 m") }),
  }),
  heartbeat: table({ enabled: flag(true), interval: durationMs("30 s") }),
  consumer_group: table({
    rebalancing_timeout: durationMs("30 s", { min: 1 }),
    session_timeout: laterKey(),
    heartbeat_interval: laterKey(),
  }),
  data_maintenance: table({
    messages: table({ cleaner_enabled: flag(true), interval: durationMs("1 m") }),
  }),
  /** Ours. */
  scrubber: table({
    enabled: flag(true),
    interval: durationMs("1 day", { min: 1000 }),
    bytes_per_second: byteSize("8 MiB", { min: 64 * 1024 }),
  }),
  telemetry: table({
    enabled: flag(false),
    service_name: text("iggy"),
    logs: signal("http://localhost:7281/v1/logs"),
    traces: signal("http://localhost:7281/v1/traces"),
  }),
  logging,
  encryption: table({ enabled: flag(false), key: text("") }),
  memory_pool: table({
    enabled: flag(true),
    size: byteSize(defaults.MEMORY_POOL_SIZE, { min: 64 * MIB, max: 4095 * MIB }),
    bucket_capacity: count(8192, { min: 128 }),
  }),
  sharding,
  metadata: table({
    prepare_queue_depth: count(32, { min: 1, max: 127 }),
    journal_slots: count(1024, { min: 256 }),
    clients_table_max: count(SESSIONS_DEFAULT, { min: 2, max: SESSIONS_MAX }),
    partitions_max: laterKey(),
  }),
  partition,
  message_bus: messageBus,
  cluster: clusterSchema,
});

/** The parsed configuration. */
export type Config = z.output<typeof configSchema>;
