import { resolve } from "node:path";
import { createBroker } from "@millrace/broker";
import { BlockPool, createChecksumKernel } from "@millrace/framing";
import type { Connection, Listener, Log, Platform } from "@millrace/platform";
import { createNodePlatform } from "@millrace/platform/node";
import { createPrometheusMetrics } from "@millrace/platform/prometheus";
import type { HttpListener } from "@millrace/transports/http/server";
import { effectiveConfig } from "../config/effective-config.ts";
import { type Environment, prefixedVariable } from "../config/environment.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Config } from "../config/schema.ts";
import { type RootCredentials, rootCredentials } from "../root-user/root-credentials.ts";
import { brokerConfig } from "./broker-config.ts";
import { deleteData } from "./fresh-data.ts";
import { type ListenerName, openListeners } from "./open-listeners.ts";
import { singleNodeRoster } from "./roster.ts";
import { startHttp } from "./start-http.ts";

/** What a start is told. */
export interface StartOptions {
  readonly config: Config;
  readonly environment: Environment;
  readonly log: Log;
  /** Delete the data first. */
  readonly fresh: boolean;
  readonly withDefaultRootCredentials: boolean;
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
  const { config, log } = options;
  const dataPath = resolve(config.path);
  const metrics = createPrometheusMetrics();
  const platform = createNodePlatform({ dataPath, log, metrics });
  if (options.fresh) await deleteData(platform.disk);
  const { host } = parseListenAddress(config.tcp.address, "tcp.address");
  const kernel = createChecksumKernel({ memoryLength: config.memory_pool.size });
  const pool = new BlockPool(kernel.memory);
  let bound = { host, tcpPort: 0, httpPort: 0, websocketPort: 0 };
  let http: HttpListener | undefined;
  let madeRootUser: RootCredentials | undefined;
  const broker = await createBroker({
    platform,
    kernel,
    pool,
    config: brokerConfig(config),
    roster: () => singleNodeRoster(bound, config.node.advertised_address),
    rootUser: async () => {
      madeRootUser = firstRootUser(options, platform);
      const { username, password } = madeRootUser;
      return { name: username, passwordHash: await platform.passwords.hash(password) };
    },
  });
  if (madeRootUser === undefined) warnOfUnusedCredentials(options);
  const stopBroker = () => broker.stop({ drainMs: config.sharding.shutdown_drain_timeout });
  const onConnection = (connection: Connection) => broker.onConnection(connection);
  const { opened, close } = await openListeners(config, { leases: pool, onConnection, log }).catch(
    async (error: unknown) => {
      await stopBroker();
      throw error;
    },
  );
  const stop = async () => {
    http?.stopBeingReady();
    await Promise.all([close(), http?.close()]);
    await stopBroker();
  };
  try {
    http = await startHttp({ config, platform, metrics, broker, kernel, pool });
    const portOf = (name: ListenerName) => opened.get(name)?.port ?? 0;
    bound = { host, tcpPort: portOf("tcp"), httpPort: http?.port ?? 0, websocketPort: portOf("websocket") };
    const listeners = listenerAddresses(opened, http);
    const addresses = Object.fromEntries(listeners);
    log.info("The listeners are open.", addresses);
    await writeEffectiveConfig(platform, config, { dataPath, addresses });
    return { listeners, dataPath, madeRootUser, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whoever set a password and cannot log in with it should read why. */
function warnOfUnusedCredentials({ environment, log }: StartOptions): void {
  if (prefixedVariable(environment, "ROOT_PASSWORD") === undefined) return;
  log.warn("The root user is from an earlier start; the credentials in the environment are not used.");
}

/** Name and bound address of everything that listens, in the order of the banner. */
function listenerAddresses(
  opened: ReadonlyMap<ListenerName, Listener>,
  http: HttpListener | undefined,
): (readonly [name: string, address: string])[] {
  const binary = [...opened].map(([name, { address }]) => [name, address] as const);
  return http === undefined ? binary : [...binary, ["http", http.address]];
}

function firstRootUser(options: StartOptions, platform: Platform): RootCredentials {
  return rootCredentials({
    environment: options.environment,
    withDefaults: options.withDefaultRootCredentials,
    random: platform.random,
  });
}

async function writeEffectiveConfig(
  platform: Platform,
  config: Config,
  bound: Parameters<typeof effectiveConfig>[1],
): Promise<void> {
  await platform.disk.makeDirectory(config.runtime.path);
  const text = new TextEncoder().encode(effectiveConfig(config, bound));
  await platform.disk.writeWhole(`${config.runtime.path}/current_config.toml`, text);
}
