import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { type Broker, createBroker } from "@millrace/broker";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { ROOT_USER_ID } from "@millrace/metadata";
import type { Connection, Disk, Listener, Log, Metrics, Platform, Tracer } from "@millrace/platform";
import { createNodeCipher, createNodeClock, createNodePlatform } from "@millrace/platform/node";
import { createPrometheusMetrics } from "@millrace/platform/prometheus";
import type { HttpListener } from "@millrace/transports/http/server";
import { effectiveConfig } from "../config/effective-config.ts";
import { encryptionKey } from "../config/encryption-key.ts";
import type { Environment } from "../config/environment.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Config } from "../config/schema.ts";
import { shardsCount } from "../config/shards-count.ts";
import { keepLogFiles } from "../log/keep-log-files.ts";
import { logFolderInData } from "../log/log-folder.ts";
import type { LogSinks } from "../log/log-sinks.ts";
import { createTroubleTeller } from "../log/trouble-teller.ts";
import { firstRootUser, type RootCredentials } from "../root-user/root-credentials.ts";
import { tellUnusedCredentials } from "../root-user/unused-credentials.ts";
import { type RunningShards, startShards } from "../shards/start-shards.ts";
import { createSnapshotCollector } from "../snapshot/collect-snapshot.ts";
import { startTelemetry } from "../telemetry/start-telemetry.ts";
import { brokerConfig } from "./broker-config.ts";
import { ClusterSide } from "./cluster-side.ts";
import { compileSooner, countDeadBuffersAtOnce } from "./engine-flags.ts";
import { deleteData } from "./fresh-data.ts";
import { nodeIdentity } from "./node-identity.ts";
import { type ListenerName, type OpenListeners, openListeners } from "./open-listeners.ts";
import { singleNodeRoster } from "./roster.ts";
import { startHttp } from "./start-http.ts";

/** What a start is told. */
export interface StartOptions {
  readonly config: Config;
  /** This node's replica id; 0 for a server that stands alone. */
  readonly replica: number;
  readonly environment: Environment;
  readonly log: Log;
  /** Where the log goes; log files join once the data is taken. */
  readonly sinks: LogSinks;
  /** Delete the data first. */
  readonly fresh: boolean;
  readonly withDefaultRootCredentials: boolean;
  /** Called when a thread that owns partitions ended; the server must not go on without them. */
  readonly onShardLost: (shard: number, reason: string) => void;
  /** Called when a replica could not write for `cluster.superblock_wedged_fatal_timeout`. */
  readonly onReplicaWedged?: (reason: string) => void;
  /**
   * Called when the start fails after it has stored a root user with a password that nobody would learn
   * later.
   */
  readonly onRootUserLeft: (rootUser: RootCredentials) => void;
}

/** A server that takes connections. */
export interface RunningServer {
  /** Name of each open listener, and its bound address as `host:port`. */
  readonly listeners: readonly (readonly [name: string, address: string])[];
  /** Absolute. */
  readonly dataPath: string;
  /** The root user this start has made, if it made one. */
  readonly madeRootUser: RootCredentials | undefined;
  /** Stops accepting, answers what is in flight, flushes, closes. */
  stop(): Promise<void>;
}

/**
 * Recovers the data, then opens the listeners.
 *
 * @throws CodedError with a sentence that says what is wrong and where; nothing keeps running then
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const dataPath = resolve(options.config.path);
  try {
    return await startAt(dataPath, options);
  } catch (error) {
    if (!isCodedError(error, ErrorCode.DiskFull)) throw error;
    // Paths of the disk are relative to the data; whoever frees space needs to know where.
    const text = `${error.message} The data is in ${dataPath}.`;
    throw new CodedError(ErrorCode.DiskFull, text, { details: { path: dataPath }, cause: error });
  }
}

function openPlatform(
  dataPath: string,
  config: StartOptions["config"],
  told: Pick<Parameters<typeof createNodePlatform>[0], "log" | "metrics" | "tracer">,
): Platform {
  const { count: threadsCount } = shardsCount(config, availableParallelism());
  const platform = createNodePlatform({ dataPath, threadsCount, ...told });
  countDeadBuffersAtOnce({ available: platform.host.facts.threadsCount, used: threadsCount });
  return platform;
}

async function startAt(dataPath: string, options: StartOptions): Promise<RunningServer> {
  const { config, log, replica } = options;
  const metrics = createPrometheusMetrics();
  const tracer = await followRequests(options, metrics);
  const platform = openPlatform(dataPath, config, { log, metrics, tracer });
  if (options.fresh) await deleteData(platform.disk, { replica, configured: ownFolders(config, dataPath) });
  const { host } = parseListenAddress(config.tcp.address, "tcp.address");
  const key = encryptionKey(config.encryption);
  const shards = shardsFor(options, { dataPath, key });
  const { kernel, pool, bus } = shards;
  let bound = { host, tcpPort: 0, httpPort: 0, websocketPort: 0 };
  let http: HttpListener | undefined;
  let madeRootUser: RootCredentials | undefined;
  let logDisk: Disk | undefined;
  let configText = "";
  const cluster = await ClusterSide.of(options, { platform, kernel, pool });
  const broker: Broker = await createBroker({
    platform,
    kernel,
    pool,
    config: shards.config,
    ...(bus === undefined ? {} : { bus }),
    cipher: key && createNodeCipher(key, platform.random),
    collectSnapshot: (asked) => {
      const [metricsText, configTextNow] = [() => metrics.text(), () => configText];
      return createSnapshotCollector({ platform, logDisk, metricsText, configText: configTextNow })(asked);
    },
    identity: await nodeIdentity(config.cluster, replica),
    cluster: cluster?.brokerOptions,
    roster: () => cluster?.roster(broker.shard.metadata.primary) ?? singleNodeRoster(bound, config),
    rootUser: async () => {
      madeRootUser = firstRootUser(options, platform.random);
      const { username, password } = madeRootUser;
      return { name: username, passwordHash: await platform.passwords.hash(password) };
    },
  }).catch(async (error: unknown) => {
    await shards.end();
    throw error;
  });
  const onConnection = (connection: Connection) => broker.onConnection(connection);
  const { clock, random } = platform;
  let listeners: OpenListeners | undefined;
  const stop = async () => {
    http?.stopBeingReady();
    await Promise.all([listeners?.close(), http?.close()]);
    await broker.stop({ drainMs: config.sharding.shutdown_drain_timeout });
    await cluster?.close();
    await shards.end();
  };
  try {
    logDisk = await keepLogFiles(config.logging, { dataPath, platform, sinks: options.sinks });
    const isOld = madeRootUser === undefined && cluster === undefined;
    const told = isOld && tellUnusedCredentials(options, rootUserOf(broker), platform);
    await cluster?.listen();
    listeners = await openListeners(config, { kernel, leases: pool, clock, random, onConnection, log });
    http = await startHttp({ config, platform, metrics, broker, kernel, pool });
    bound = { host, ...portsOf(listeners, http) };
    const open = listenerAddresses(listeners.opened, http);
    const addresses = Object.fromEntries(open);
    log.info("The listeners are open.", addresses);
    configText = effectiveConfig(config, { dataPath, addresses });
    await Promise.all([told, keepEffectiveConfig(platform, config.runtime.path, configText)]);
    compileSooner();
    return { listeners: open, dataPath, madeRootUser, stop };
  } catch (error) {
    tellGenerated(madeRootUser, options);
    await stop();
    throw error;
  }
}

function rootUserOf({ shard }: Broker) {
  return shard.catalog.userById(ROOT_USER_ID);
}

/** Ports that are really bound; 0 for what is off. */
function portsOf({ opened }: OpenListeners, http: HttpListener | undefined) {
  const portOf = (name: ListenerName) => opened.get(name)?.port ?? 0;
  return { tcpPort: portOf("tcp"), httpPort: http?.port ?? 0, websocketPort: portOf("websocket") };
}

/** On a full disk it is left out: what is stored can still be read, and deleted. */
async function keepEffectiveConfig(platform: Platform, path: string, configText: string): Promise<void> {
  try {
    await writeEffectiveConfig(platform, path, configText);
  } catch (error) {
    if (!isCodedError(error, ErrorCode.DiskFull)) throw error;
    platform.log.warn("The configuration in effect could not be written.", { reason: error.message });
  }
}

/** A password that this start has made up is known to nobody else. */
function tellGenerated(rootUser: RootCredentials | undefined, { onRootUserLeft }: StartOptions): void {
  if (rootUser?.passwordOrigin === "generated") onRootUserLeft(rootUser);
}

/** Starts as many shards as the configuration asks for. */
function shardsFor(
  { config, log, sinks, onShardLost }: StartOptions,
  { dataPath, key }: { readonly dataPath: string; readonly key: Uint8Array | undefined },
): RunningShards {
  const { count, note } = shardsCount(config, availableParallelism());
  if (note !== undefined) log.info(note);
  if (count > 1) log.info("Partitions are spread over shards.", { shards: count });
  return startShards({
    shardsCount: count,
    memoryLength: config.memory_pool.size,
    config: brokerConfig(config),
    dataPath,
    logLevel: config.logging.level,
    sink: sinks,
    key,
    onLost: onShardLost,
  });
}

/** Sends spans and log lines to a collector when telemetry is on. */
async function followRequests(options: StartOptions, metrics: Metrics): Promise<Tracer | undefined> {
  if (!options.config.telemetry.enabled) return undefined;
  const counter = metrics.counter("telemetry_troubles_total", "Sendings to the collector that failed");
  const onTrouble = createTroubleTeller({ clock: createNodeClock(), counter, what: "telemetry is lost" });
  const { tracer, sink } = await startTelemetry(options.config.telemetry, onTrouble);
  options.sinks.add(sink);
  return tracer;
}

/** Folders of ours that the configuration names, below the data path. */
function ownFolders(config: Config, dataPath: string): string[] {
  const logs = logFolderInData(config.logging, dataPath);
  return [config.runtime.path, ...(logs === undefined ? [] : [logs])];
}

/** Name and bound address of everything that listens, in the order of the banner. */
function listenerAddresses(
  opened: ReadonlyMap<ListenerName, Listener>,
  http: HttpListener | undefined,
): (readonly [name: string, address: string])[] {
  const binary = [...opened].map(([name, { address }]) => [name, address] as const);
  return http === undefined ? binary : [...binary, ["http", http.address]];
}

async function writeEffectiveConfig({ disk }: Platform, folder: string, text: string): Promise<void> {
  await disk.makeDirectory(folder);
  await disk.writeWhole(`${folder}/current_config.toml`, new TextEncoder().encode(text));
}
