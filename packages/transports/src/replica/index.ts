/**
 * The bus between the replicas of one cluster: a port of its own, one connection for each two replicas, a
 * handshake that proves the shared secret, TLS 1.3 where it is asked for.
 *
 * ```ts
 * import { clusterIdOf, loadChannelKeys, ReplicaBus } from "@millrace/transports/replica";
 *
 * const roster = [{ host: "10.0.0.1", port: 8190 }, { host: "10.0.0.2", port: 8190 }];
 * const bus = new ReplicaBus({
 *   replica: 0, replicaCount: 2, cluster: await clusterIdOf("orders"),
 *   keys: await loadChannelKeys({ sharedSecret }),
 *   listen: roster[0], addressOf: (replica) => roster[replica],
 *   hash: kernel, leases: pool, frameLengthMax, clock, random, log, metrics,
 * });
 * bus.onFrame = (from, frame, frameLease) => {};
 * await bus.listen();
 * ```
 *
 * @packageDocumentation
 */
export { clusterIdOf } from "./cluster-id.ts";
export { type ChannelKeys, type ChannelSecrets, loadChannelKeys } from "./handshake/channel-keys.ts";
export { type DataKey, loadDataKey } from "./handshake/data-key.ts";
export type { RefusalReason } from "./handshake/refusal.ts";
export type { KeepaliveTimes } from "./peer-link.ts";
export { ReplicaBus } from "./replica-bus.ts";
export type { ReplicaBusOptions } from "./replica-bus-options.ts";
export type { ReplicaTls } from "./replica-tls.ts";
