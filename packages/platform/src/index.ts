/**
 * What a replica may ask of its surroundings, as interfaces.
 *
 * ```ts
 * import type { Platform } from "@millrace/platform";
 * import { createNodePlatform } from "@millrace/platform/node";
 *
 * const platform: Platform = createNodePlatform({ dataPath: "./local_data" });
 * ```
 *
 * @packageDocumentation
 */
export { CIPHER_KEY_LENGTH, type Cipher, SEAL_LENGTH } from "./cipher.ts";
export type { Clock, Random, Timer } from "./clock.ts";
export { type Connection, type Listener, TransportKind, type VouchedUser } from "./connection.ts";
export type { DirectoryEntry, Disk, DiskFile, DiskLock, DiskSpace, EntryKind, OpenMode } from "./disk.ts";
export { type DiskFailure, diskError } from "./disk-error.ts";
export { diskPathNames, parentDiskPath } from "./disk-path.ts";
export { clockOfEvents } from "./event-clock.ts";
export { type Log, type LogFacts, silentLog } from "./log.ts";
export { type Counter, type Gauge, type Metrics, silentMetrics } from "./metrics.ts";
export type { PeerBus } from "./peer-bus.ts";
export { openPeerFrame } from "./peer-frame.ts";
export type { Host, HostFacts, HostLoad, Passwords, Platform, ProcessFacts } from "./platform.ts";
export type { ShardBus } from "./shard-bus.ts";
export type { Span, Tracer } from "./tracer.ts";
