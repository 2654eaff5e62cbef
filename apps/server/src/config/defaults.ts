/** Addresses of the listeners. Loopback only: what others may reach is the operator's decision. */
export const TCP_ADDRESS = "127.0.0.1:8090";
export const QUIC_ADDRESS = "127.0.0.1:8080";
export const HTTP_ADDRESS = "127.0.0.1:3000";
export const WEBSOCKET_ADDRESS = "127.0.0.1:8092";
export const GRPC_ADDRESS = "127.0.0.1:8093";

/** Where data lives, relative to the working directory. */
export const DATA_PATH = "local_data";
/** Where the effective configuration is written, relative to the data path. */
export const RUNTIME_PATH = "runtime";

/** Memory for messages on their way and for the tail of partitions; touched only as used. */
export const MEMORY_POOL_SIZE = "512 MiB";
/** The longest message in both directions, header included: the protocol's default. */
export const MESSAGE_SIZE = "64 MiB";
/** Open client connections: the session table's capacity, with as many again that are not logged in. */
export const CONNECTIONS_MAX = 16_384;

/** Name of the root user unless told otherwise, known to every official client. */
export const ROOT_USERNAME = "iggy";
/** Password that `--with-default-root-credentials` gives; known to everybody. */
export const ROOT_PASSWORD = "iggy";

/**
 * Operations in flight in one partition; the reference has 32. What queues while a group is being written is
 * the next group, so a deeper pipeline makes larger groups and fewer system calls, see docs/adr/0061.
 */
export const PARTITION_QUEUE_DEPTH = 1024;
