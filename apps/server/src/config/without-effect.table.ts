/** Keys that later releases of the reference have: a file that was written for them is taken. */
const LATER = "a key of later releases of the reference";

/** A node that lags fetches ops, or whole states, from the files of others. */
const FROM_FILES = "what another node lacks is read from the files; no memory is kept for it";

/** The constants of the bus are in `@millrace/transports/replica`. */
const FIXED_BUS = "the times of the bus between nodes are fixed";

/** Clusters of nodes with several shards are refused. */
const ONE_SHARD = "a node of a cluster has one shard";

/** Settings that are read and checked and change nothing in this release: a key or a whole table, and why. */
export const WITHOUT_EFFECT: readonly (readonly [path: string, reason: string])[] = [
  ["quic.address", "QUIC is not built"],
  ["quic.max_concurrent_bidi_streams", "QUIC is not built"],
  ["quic.initial_mtu", "QUIC is not built"],
  ["quic.send_window", "QUIC is not built"],
  ["quic.receive_window", "QUIC is not built"],
  ["quic.stream_receive_window", "QUIC is not built"],
  ["quic.keep_alive_interval", "QUIC is not built"],
  ["quic.max_idle_timeout", "QUIC is not built"],
  ["quic.certificate", "QUIC is not built"],
  ["websocket.read_buffer_size", "buffers follow the messages"],
  ["websocket.write_buffer_size", "buffers follow the messages"],
  ["websocket.max_write_buffer_size", "a slow reader is held back as on TCP"],
  ["websocket.max_frame_size", "a frame may be as long as a message"],
  ["memory_pool.enabled", "messages always live in the pool"],
  ["memory_pool.bucket_capacity", "the pool has blocks of one size"],
  ["sharding.pin_cores", "Node cannot pin threads to cores"],
  ["sharding.inbox_capacity", "the ways between shards have a fixed length, and what finds no room waits"],
  ["sharding.reply_inbox_capacity", "the ways between shards have a fixed length, and what finds no room waits"],
  ["sharding.shutdown_poll_interval", "a stop waits for events and polls nothing"],
  ["sharding.reconcile_periodic_interval", "partitions are made and removed with the op that asks for it"],
  ["partition.wal_bytes_max", "op records stand beside each segment and go with it"],
  ["partition.offset_reservation_lease", "op records tell which offsets were given out"],
  ["partition.evicted_ring_capacity", FROM_FILES],
  ["partition.evicted_ring_bytes_max", FROM_FILES],
  ["partition.transfer_served_cache_bytes_max", FROM_FILES],
  ["partition.transfer_artifact_bytes_max", FROM_FILES],
  ["message_bus.max_batch", "frames leave as the connection takes them"],
  ["message_bus.reconnect_period", FIXED_BUS],
  ["message_bus.close_peer_timeout", FIXED_BUS],
  ["message_bus.close_grace", FIXED_BUS],
  ["message_bus.handshake_grace", FIXED_BUS],
  ["cluster.coordinator", ONE_SHARD],
  ["logging.sysinfo_print_interval", LATER],
  ["consumer_group.session_timeout", LATER],
  ["consumer_group.heartbeat_interval", LATER],
  ["sharding.poll_completion_capacity", LATER],
  ["sharding.partition_io_capacity", LATER],
  ["metadata.partitions_max", LATER],
  ["partition.wal_group_commit_delay_micros", LATER],
  ["message_bus.replica_read_buffer_size", LATER],
  ["message_bus.client_queue_capacity", LATER],
  ["message_bus.connections_max", LATER],
];
